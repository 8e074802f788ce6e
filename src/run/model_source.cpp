#include "run/model_source.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "io/checkpoint_file.hpp"
#include "io/file.hpp"
#include "io/gguf.hpp"
#include "model/gguf_model.hpp"
#include "model/hf_folder.hpp"
#include "run/checkpointing.hpp"

namespace maxplus {

namespace {

// Files of a published folder that say how it is used, whatever holds the weights.
constexpr const char* kCompanions[] = {"generation_config.json",
                                       "tokenizer.json",
                                       "tokenizer_config.json",
                                       "special_tokens_map.json",
                                       "added_tokens.json",
                                       "vocab.json",
                                       "merges.txt",
                                       "chat_template.jinja",
                                       "chat_template.json"};

std::map<std::string, std::string> read_companions(const std::filesystem::path& folder) {
  std::map<std::string, std::string> companions;
  for (const char* name : kCompanions) {
    std::error_code error;
    if (std::filesystem::is_regular_file(folder / name, error))
      companions[name] = std::string(MappedFile(folder / name).text());
  }
  return companions;
}

OpenedModel open_folder(const std::filesystem::path& path) {
  OpenedModel model;
  model.config = read_hf_config(path);
  model.config_json = std::string(MappedFile(path / "config.json").text());
  model.companions = read_companions(path);
  model.load = [path](WeightSet& weights) { load_hf_weights(path, weights); };
  model.description = fmt::format("{} folder {}", model.config.family, path.string());
  return model;
}

OpenedModel open_gguf(const std::filesystem::path& path) {
  OpenedModel model;
  const auto file = std::make_shared<const GgufFile>(path);
  model.config = read_gguf_config(*file);
  model.load = [file, config = model.config](WeightSet& weights) {
    load_weights(*open_gguf_weights(file, config), weights);
  };
  model.description = fmt::format("{} in GGUF file {}", model.config.family, path.string());
  return model;
}

OpenedModel open_checkpoint(const std::filesystem::path& path) {
  const CheckpointReader reader(path.string());
  const CheckpointHeader& header = reader.header();
  const auto config = header.texts.find(kModelConfigText);
  if (config == header.texts.end()) {
    throw Error(ExitCode::data,
                Fault{path.string(), "the checkpoint does not tell its network", "a checkpoint of a run", ""});
  }
  OpenedModel model;
  model.config = read_model_config(nlohmann::json::parse(config->second), path.string());
  if (const auto tokenizer = header.texts.find(kTokenizerText); tokenizer != header.texts.end()) {
    model.tokenizer = tokenizer_from_json(Json::parse(tokenizer->second));
  }
  model.load = [path](WeightSet& weights) {
    const CheckpointReader file(path.string());
    for (const Parameter& parameter : weights.parameters())
      file.read("weights/" + parameter.name, parameter.weight.span<float>());
  };
  model.description = fmt::format("checkpoint {} of iteration {}", path.string(), header.iteration);
  return model;
}

}  // namespace

OpenedModel open_model(const std::filesystem::path& path) {
  std::error_code error;
  const auto kind = std::filesystem::status(path, error).type();
  if (kind == std::filesystem::file_type::directory) return open_folder(path);
  if (kind == std::filesystem::file_type::regular)
    return has_gguf_magic(path) ? open_gguf(path) : open_checkpoint(path);
  throw Error(ExitCode::no_input,
              Fault{path.string(), "there is no model",
                    "a published folder (config.json, model.safetensors), a GGUF file or a checkpoint (.h5)", ""});
}

}  // namespace maxplus
