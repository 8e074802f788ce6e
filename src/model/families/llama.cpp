// Llama (Touvron et al., 2023) and what is shaped like it: RMS norm, rotary positions, grouped keys, SwiGLU, no biases.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "model/families/family.hpp"

namespace maxplus {

namespace {

void read_llama(ConfigReader& reader, ModelConfig&) {
  for (const char* key : {"attention_bias", "mlp_bias"}) {
    if (reader.flag_or(key, false)) reader.fault(fmt::format("'{}' is true", key), "a llama without biases", "");
  }
}

void write_llama(nlohmann::ordered_json& json, const ModelConfig&) {
  json["attention_bias"] = false;
  json["mlp_bias"] = false;
}

}  // namespace

const Family kLlamaFamily{"llama", "LlamaForCausalLM", read_llama, write_llama, dense_weights};

}  // namespace maxplus
