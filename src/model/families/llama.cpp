// Llama (Touvron et al., 2023) and what is shaped like it: RMS norm, rotary positions, grouped keys, SwiGLU, no biases.
#include <nlohmann/json.hpp>

#include "model/families/family.hpp"

namespace maxplus {

namespace {

void complete_llama(ModelConfig&) {}

void read_llama(ConfigReader& reader, ModelConfig&) { refuse_flags(reader, {"attention_bias", "mlp_bias"}); }

void write_llama(nlohmann::ordered_json& json, const ModelConfig&) {
  json["attention_bias"] = false;
  json["mlp_bias"] = false;
}

}  // namespace

const Family kLlamaFamily{.name = "llama",
                          .architecture = "LlamaForCausalLM",
                          .defaults = {.norm_epsilon = 1e-5, .rotary_theta = 1e4, .window = 0},
                          .file_defaults = {.tie_embeddings = false, .head_width = 0, .activation_key = "hidden_act"},
                          .windows = WindowLayers::none,
                          .complete = complete_llama,
                          .read = read_llama,
                          .write = write_llama,
                          .weights = dense_weights};

}  // namespace maxplus
