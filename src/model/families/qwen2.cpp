// Qwen2 and Qwen2.5 (Yang et al., 2024): a llama with biases on queries, keys and values. Some of its files give the
// layers from max_window_layers on a sliding window.
#include <nlohmann/json.hpp>

#include "model/families/family.hpp"
#include "model/families/qwen_windows.hpp"

namespace maxplus {

namespace {

void complete_qwen2(ModelConfig& config) { config.block.qkv_bias = true; }

}  // namespace

const Family kQwen2Family{.name = "qwen2",
                          .architecture = "Qwen2ForCausalLM",
                          .defaults = {.norm_epsilon = 1e-6, .rotary_theta = 1e6, .window = 0},
                          .file_defaults = {.tie_embeddings = false, .head_width = 0, .activation_key = "hidden_act"},
                          .windows = WindowLayers::all,
                          .complete = complete_qwen2,
                          .read = read_qwen_windows,
                          .write = write_qwen_windows,
                          .weights = dense_weights};

}  // namespace maxplus
