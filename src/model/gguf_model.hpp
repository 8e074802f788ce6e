#pragma once
// A model in a GGUF file: its configuration from the metadata, its weights under published names.

#include <memory>

#include <nlohmann/json_fwd.hpp>

#include "io/gguf.hpp"
#include "model/model_config.hpp"
#include "model/weight_source.hpp"

namespace maxplus {

// The config.json that the model would have as a published folder, in the older form. Throws Error(ExitCode::data) for
// keys that are missing or of another type; what the family does not support is left to read_model_config.
nlohmann::ordered_json gguf_config_json(const GgufFile& file);
ModelConfig read_gguf_config(const GgufFile& file);

// `config` is the file's own. Rows of q and k stand in published order, and norms as published, however the
// architecture stores them; what is computed from other tensors (rotary factors) is left out.
std::unique_ptr<WeightSource> open_gguf_weights(std::shared_ptr<const GgufFile> file, const ModelConfig& config);

}  // namespace maxplus
