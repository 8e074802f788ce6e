#include "model/families/qwen_windows.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "model/families/family.hpp"

namespace maxplus {

void read_qwen_windows(ConfigReader& reader, ModelConfig& config) {
  if (!reader.flag_or("use_sliding_window", false)) return;
  const std::int64_t window = reader.whole_or("sliding_window", 0);
  config.windows = read_windows(reader, config, WindowLayers::all, window);
  if (config.windows.empty() || reader.has("layer_types")) return;
  const std::int64_t full = std::clamp<std::int64_t>(reader.whole_or("max_window_layers", 28), 0, config.layers);
  std::fill_n(config.windows.begin(), full, 0);
}

void write_qwen_windows(nlohmann::ordered_json& json, const ModelConfig& config) {
  const std::int64_t window = window_width(config);
  const auto first = std::find_if(config.windows.begin(), config.windows.end(), [](std::int64_t w) { return w > 0; });
  json["use_sliding_window"] = window > 0;
  json["sliding_window"] = window > 0 ? nlohmann::ordered_json(window) : nlohmann::ordered_json();
  json["max_window_layers"] = window > 0 ? first - config.windows.begin() : config.layers;
  if (window > 0) write_layer_types(json, config);
}

}  // namespace maxplus
