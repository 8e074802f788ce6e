#pragma once
// Keys that the Qwen families share: a sliding window that counts only where use_sliding_window says so, in the layers
// from max_window_layers on.

#include <nlohmann/json_fwd.hpp>

#include "model/config_reader.hpp"
#include "model/model_config.hpp"

namespace maxplus {

void read_qwen_windows(ConfigReader& reader, ModelConfig& config);
void write_qwen_windows(nlohmann::ordered_json& json, const ModelConfig& config);

}  // namespace maxplus
