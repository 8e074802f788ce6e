// Opening is in two steps: what the network is, by the kind of file; then its tokenizer, from the same place.
#include "run/model_source.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "io/checkpoint_file.hpp"
#include "io/file.hpp"
#include "io/gguf.hpp"
#include "io/hdf5_file.hpp"
#include "io/safetensors.hpp"
#include "model/families/family.hpp"
#include "model/gguf_model.hpp"
#include "model/hf_folder.hpp"
#include "run/checkpoint_weights.hpp"
#include "run/checkpointing.hpp"
#include "text/gguf_tokenizer.hpp"
#include "text/hf_tokenizer.hpp"

namespace maxplus {

namespace {

constexpr const char* kConfigFile = "config.json";
// Files of a published folder that say how it is used, whatever holds the weights.
constexpr const char* kCompanionFiles[] = {kConfigFile,
                                           "generation_config.json",
                                           "tokenizer.json",
                                           "tokenizer_config.json",
                                           "special_tokens_map.json",
                                           "added_tokens.json",
                                           "vocab.json",
                                           "merges.txt",
                                           "chat_template.jinja",
                                           "chat_template.json",
                                           kOwnTokenizerFile};

constexpr const char* kKinds =
    "a published folder (config.json, model.safetensors), a GGUF file, a safetensors file or a checkpoint (.h5)";

bool is_file(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error);
}

std::string text_of(const std::filesystem::path& path) { return std::string(MappedFile(path).text()); }

void set_weights(OpenedModel& model, std::function<std::shared_ptr<const WeightSource>()> open) {
  model.load = [open](WeightSet& weights) { load_weights(open(), weights); };
  model.open_weights = std::move(open);
}

OpenedModel open_folder(const std::filesystem::path& path) {
  OpenedModel model;
  model.config = read_hf_config(path);
  for (const char* name : kCompanionFiles) {
    if (is_file(path / name)) model.companions[name] = text_of(path / name);
  }
  set_weights(model, [path]() -> std::shared_ptr<const WeightSource> { return open_hf_weights(path); });
  model.description = fmt::format("{} folder {}", model.config.family, path.string());
  return model;
}

OpenedModel open_gguf(const std::filesystem::path& path) {
  OpenedModel model;
  const auto file = std::make_shared<const GgufFile>(path);
  model.config = read_gguf_config(*file);
  set_weights(model, [file, config = model.config]() -> std::shared_ptr<const WeightSource> {
    return open_gguf_weights(file, config);
  });
  model.description = fmt::format("{} in GGUF file {}", model.config.family, path.string());
  return model;
}

// A file that carries its config.json, or that lies beside one.
OpenedModel open_safetensors(const std::filesystem::path& path) {
  OpenedModel model;
  const SafetensorsFile file(path);
  for (const auto& [key, text] : file.metadata()) {
    if (key.starts_with(kCompanionPrefix))
      model.companions[key.substr(std::string_view(kCompanionPrefix).size())] = text;
  }
  if (const auto config = model.companions.find(kConfigFile); config != model.companions.end()) {
    const auto json = nlohmann::json::parse(config->second, nullptr, false);
    if (json.is_discarded())
      throw Error(ExitCode::data, Fault{path.string(), "the config.json inside is not valid JSON", "", ""});
    model.config = read_model_config(json, path.string());
  } else if (is_file(path.parent_path() / kConfigFile)) {
    model = open_folder(path.parent_path());
  } else {
    throw Error(ExitCode::data,
                Fault{path.string(), "does not say which network its tensors are",
                      "a config.json beside it, or inside as `maxplus convert` writes it", "give the model's folder"});
  }
  set_weights(model, [path]() -> std::shared_ptr<const WeightSource> { return open_safetensors_weights(path); });
  model.description = fmt::format("{} in safetensors file {}", model.config.family, path.string());
  return model;
}

ModelConfig config_of_text(const std::string& text, const std::filesystem::path& path) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (json.is_discarded())
    throw Error(ExitCode::data, Fault{path.string(), "the network's configuration is not valid JSON", "", ""});
  return read_model_config(json, path.string());
}

// A network of its own may have another shape than the policy.
ModelConfig critic_config(ModelConfig policy, const CheckpointHeader& header, const std::filesystem::path& path) {
  const auto own = header.texts.find(kCriticConfigText);
  if (own != header.texts.end()) return config_of_text(own->second, path);
  const std::string shared = std::string("weights/") + kScoreWeight;
  const bool has_score = std::any_of(header.tensors.begin(), header.tensors.end(),
                                     [&](const CheckpointHeader::Tensor& tensor) { return tensor.name == shared; });
  if (!has_score) {
    throw Error(ExitCode::data, Fault{path.string(), "the checkpoint holds no critic",
                                      "a checkpoint of a run with [critic]", "leave --critic out for the policy"});
  }
  policy.token_head = false;
  policy.value_head = true;
  return policy;
}

OpenedModel open_checkpoint(const std::filesystem::path& path, CheckpointNetwork network) {
  const CheckpointReader reader(path.string());
  const CheckpointHeader& header = reader.header();
  const auto config = header.texts.find(kModelConfigText);
  if (config == header.texts.end()) {
    throw Error(ExitCode::data,
                Fault{path.string(), "the checkpoint does not tell its network", "a checkpoint of a run", ""});
  }
  OpenedModel model;
  model.config = config_of_text(config->second, path);
  if (network == CheckpointNetwork::critic) model.config = critic_config(model.config, header, path);
  for (const auto& [name, text] : header.texts) {
    if (name.starts_with(kCompanionPrefix))
      model.companions[name.substr(std::string_view(kCompanionPrefix).size())] = text;
  }
  set_weights(model, [path, config = model.config, network]() -> std::shared_ptr<const WeightSource> {
    return open_checkpoint_weights(path, config, network);
  });
  model.description = fmt::format("checkpoint {} of iteration {}", path.string(), header.iteration);
  return model;
}

void set_tokenizer(OpenedModel& model, PublishedTokenizer published) {
  pad_vocabulary(published.description, model.config.vocabulary);
  model.stop = std::move(published.stop);
  model.tokenizer = make_bpe_tokenizer(std::move(published.description), published.where);
}

void add_tokenizer(const std::filesystem::path& path, OpenedModel& model) {
  const ModelFileKind kind = kind_of_model_file(path);
  const auto own = model.companions.find(kOwnTokenizerFile), published = model.companions.find("tokenizer.json");
  if (kind == ModelFileKind::gguf) {
    const GgufFile file(path);
    if (has_gguf_tokenizer(file)) set_tokenizer(model, read_gguf_tokenizer(file));
  } else if (kind == ModelFileKind::checkpoint) {
    const CheckpointReader reader(path.string());
    const auto& texts = reader.header().texts;
    if (const auto text = texts.find(kTokenizerText); text != texts.end())
      model.tokenizer = tokenizer_from_json(Json::parse(text->second));
  } else if (own != model.companions.end()) {
    model.tokenizer = tokenizer_from_json(Json::parse(own->second));
  } else if (published != model.companions.end()) {
    const std::filesystem::path folder = kind == ModelFileKind::folder ? path : path.parent_path();
    if (has_hf_tokenizer(folder)) {
      set_tokenizer(model, read_hf_tokenizer(folder));
    } else {  // inside a safetensors file
      set_tokenizer(model, {parse_hf_tokenizer(published->second, path.string()), {}, path.string()});
    }
  }
}

}  // namespace

ModelFileKind kind_of_model_file(const std::filesystem::path& path) {
  std::error_code error;
  const auto type = std::filesystem::status(path, error).type();
  if (type == std::filesystem::file_type::directory) return ModelFileKind::folder;
  if (type != std::filesystem::file_type::regular) {
    throw Error(ExitCode::no_input, Fault{path.string(), "there is no such file", kKinds, "check the path"});
  }
  const std::string ending = path.extension().string();
  if (has_gguf_magic(path) || ending == ".gguf") return ModelFileKind::gguf;
  if (has_hdf5_magic(path.string()) || ending == ".h5") return ModelFileKind::checkpoint;
  if (ending == ".safetensors") return ModelFileKind::safetensors;
  throw Error(ExitCode::data, Fault{path.string(), "is no file of a model", kKinds, ""});
}

std::filesystem::path newest_of_run(const std::filesystem::path& path) {
  const std::filesystem::path latest = path / "checkpoints" / "latest";
  if (!is_file(latest) || is_file(path / kConfigFile)) return path;
  std::string name = text_of(latest);
  while (!name.empty() && (name.back() == '\n' || name.back() == '\r')) name.pop_back();
  return path / "checkpoints" / name;
}

OpenedModel open_network(const std::filesystem::path& asked) {
  const std::filesystem::path path = newest_of_run(asked);
  switch (kind_of_model_file(path)) {
    case ModelFileKind::folder: return open_folder(path);
    case ModelFileKind::gguf: return open_gguf(path);
    case ModelFileKind::checkpoint: return open_checkpoint(path, CheckpointNetwork::policy);
    case ModelFileKind::safetensors: return open_safetensors(path);
  }
  return {};
}

namespace {

OpenedModel with_tokenizer(OpenedModel model, const std::filesystem::path& path) {
  // Before anything is allocated for it, the network must be the one that the file holds.
  const std::shared_ptr<const WeightSource> source = model.open_weights();
  const CheckedWeights checked(source, WeightPlan(model.config, *source).weights());
  try {
    add_tokenizer(path, model);
  } catch (const Error& error) {  // ids work all the same
    if (error.code() != ExitCode::data) throw;
    model.tokenizer = nullptr;
    model.tokenizer_fault = error.faults().front();
  }
  return model;
}

}  // namespace

OpenedModel open_model(const std::filesystem::path& path) {
  return with_tokenizer(open_network(path), newest_of_run(path));
}

OpenedModel open_critic_of_checkpoint(const std::filesystem::path& path) {
  if (kind_of_model_file(path) != ModelFileKind::checkpoint) {
    throw Error(ExitCode::data, Fault{path.string(), "is not a checkpoint", "a checkpoint of a run with [critic]", ""});
  }
  OpenedModel model = with_tokenizer(open_checkpoint(path, CheckpointNetwork::critic), path);
  model.companions.erase(kConfigFile);
  return model;
}

void require_tokens(const OpenedModel& model, const std::string& where) {
  if (model.config.token_head) return;
  throw Error(ExitCode::data, Fault{where, model.description + " is a classifier: it gives values, no tokens",
                                    "a language model", "as [critic] path a classifier is welcome"});
}

void load_into(const OpenedModel& model, WeightSet& weights, std::uint64_t seed) {
  const ModelConfig &have = model.config, &want = weights.config();
  const bool same_heads = have.token_head == want.token_head && have.value_head == want.value_head;
  if (same_heads || !model.open_weights) return model.load(weights);
  load_other_heads(model.open_weights(), have, weights, seed);
}

void replace_tokenizer(OpenedModel& model, std::shared_ptr<const Tokenizer> tokenizer) {
  std::erase_if(model.companions,
                [](const auto& file) { return file.first != kConfigFile && file.first != "generation_config.json"; });
  model.tokenizer_fault.reset();
  model.stop.clear();
  model.tokenizer = std::move(tokenizer);
}

}  // namespace maxplus
