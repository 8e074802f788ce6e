#include "run/model_source.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "io/checkpoint_file.hpp"
#include "model/hf_folder.hpp"
#include "run/checkpointing.hpp"

namespace maxplus {

namespace {

OpenedModel open_folder(const std::filesystem::path& path) {
  OpenedModel model;
  model.config = read_hf_config(path);
  model.load = [path](WeightSet& weights) { load_hf_weights(path, weights); };
  model.description = fmt::format("{} folder {}", model.config.family, path.string());
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
  if (kind == std::filesystem::file_type::regular) return open_checkpoint(path);
  throw Error(ExitCode::no_input,
              Fault{path.string(), "there is no model",
                    "a published folder (config.json, model.safetensors) or a checkpoint (.h5)", ""});
}

}  // namespace maxplus
