// Qwen3, dense (Yang et al., 2025): a llama whose query and key heads are normalised before they are turned, and whose
// heads have a width of their own.
#include <nlohmann/json.hpp>

#include "model/families/family.hpp"
#include "model/families/qwen_windows.hpp"

namespace maxplus {

namespace {

void complete_qwen3(ModelConfig& config) { config.block.query_key_norm = true; }

void read_qwen3(ConfigReader& reader, ModelConfig& config) {
  refuse_flags(reader, {"attention_bias"});
  read_qwen_windows(reader, config);
}

void write_qwen3(nlohmann::ordered_json& json, const ModelConfig& config) {
  json["attention_bias"] = false;
  write_qwen_windows(json, config);
}

}  // namespace

const Family kQwen3Family{.name = "qwen3",
                          .architecture = "Qwen3ForCausalLM",
                          .defaults = {.norm_epsilon = 1e-6, .rotary_theta = 1e6, .window = 0},
                          .file_defaults = {.tie_embeddings = false, .head_width = 128, .activation_key = "hidden_act"},
                          .windows = WindowLayers::all,
                          .complete = complete_qwen3,
                          .read = read_qwen3,
                          .write = write_qwen3,
                          .weights = dense_weights};

}  // namespace maxplus
