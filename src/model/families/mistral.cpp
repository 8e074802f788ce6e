// Mistral 7B (Jiang et al., 2023): a llama whose tokens see a sliding window. Later files of the family say null: no
// window.
#include <nlohmann/json.hpp>

#include "model/families/family.hpp"

namespace maxplus {

namespace {

constexpr std::int64_t kMistralWindow = 4096;

void complete_mistral(ModelConfig&) {}

void read_mistral(ConfigReader& reader, ModelConfig& config) {
  const std::int64_t window = reader.whole_or("sliding_window", reader.is_null("sliding_window") ? 0 : kMistralWindow);
  config.windows = windows_of(WindowLayers::all, config.layers, window);
}

void write_mistral(nlohmann::ordered_json& json, const ModelConfig& config) {
  const std::int64_t window = window_width(config);
  json["sliding_window"] = window > 0 ? nlohmann::ordered_json(window) : nlohmann::ordered_json();
}

}  // namespace

const Family kMistralFamily{.name = "mistral",
                            .architecture = "MistralForCausalLM",
                            .defaults = {.norm_epsilon = 1e-5, .rotary_theta = 1e4, .window = kMistralWindow},
                            .file_defaults = {.tie_embeddings = false, .head_width = 0, .activation_key = "hidden_act"},
                            .windows = WindowLayers::all,
                            .complete = complete_mistral,
                            .read = read_mistral,
                            .write = write_mistral,
                            .weights = dense_weights};

}  // namespace maxplus
