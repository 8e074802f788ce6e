// Gemma 2 (Gemma Team, 2024): norms that multiply by 1 + weight, also behind attention and feed-forward; embeddings
// times sqrt(width); soft caps of scores and logits; GeGLU; every second layer, the first among them, has a window.
#include <cmath>

#include <nlohmann/json.hpp>

#include "model/families/family.hpp"

namespace maxplus {

namespace {

constexpr std::int64_t kGemma2Window = 4096;
constexpr double kAttentionCap = 50, kLogitCap = 30, kQueryScalar = 256;

void complete_gemma2(ModelConfig& config) {
  BlockShape& block = config.block;
  block.activation = BlockShape::Activation::gelu_tanh;
  block.norm_scale = BlockShape::NormScale::one_plus_weight;
  block.output_norms = true;
  block.attention_cap = kAttentionCap;
  config.logit_cap = kLogitCap;
  config.embedding_scale = std::sqrt(static_cast<double>(config.width));
}

// A cap that is null is off.
double read_cap(ConfigReader& reader, const char* key, double standard) {
  return reader.number_or(key, reader.is_null(key) ? 0 : standard);
}

void read_gemma2(ConfigReader& reader, ModelConfig& config) {
  refuse_flags(reader, {"attention_bias", "use_bidirectional_attention"});
  config.block.query_scalar = reader.number_or("query_pre_attn_scalar", kQueryScalar);
  config.block.attention_cap = read_cap(reader, "attn_logit_softcapping", kAttentionCap);
  config.logit_cap = read_cap(reader, "final_logit_softcapping", kLogitCap);
  const std::int64_t window = reader.whole_or("sliding_window", reader.is_null("sliding_window") ? 0 : kGemma2Window);
  config.windows = read_windows(reader, config, WindowLayers::even, window);
}

nlohmann::ordered_json cap_or_null(double cap) {
  return cap > 0 ? nlohmann::ordered_json(cap) : nlohmann::ordered_json();
}

void write_gemma2(nlohmann::ordered_json& json, const ModelConfig& config) {
  const BlockShape& block = config.block;
  json["hidden_activation"] = json["hidden_act"];
  json["attention_bias"] = false;
  const double scalar = block.query_scalar > 0 ? block.query_scalar : static_cast<double>(config.head_width);
  const bool whole = scalar == std::floor(scalar);
  json["query_pre_attn_scalar"] =
      whole ? nlohmann::ordered_json(static_cast<std::int64_t>(scalar)) : nlohmann::ordered_json(scalar);
  json["attn_logit_softcapping"] = cap_or_null(block.attention_cap);
  json["final_logit_softcapping"] = cap_or_null(config.logit_cap);
  const std::int64_t window = window_width(config);
  json["sliding_window"] = window > 0 ? nlohmann::ordered_json(window) : nlohmann::ordered_json();
  write_layer_types(json, config);
}

}  // namespace

const Family kGemma2Family{
    .name = "gemma2",
    .architecture = "Gemma2ForCausalLM",
    .defaults = {.norm_epsilon = 1e-6, .rotary_theta = 1e4, .window = kGemma2Window},
    .file_defaults = {.tie_embeddings = true, .head_width = 256, .activation_key = "hidden_activation"},
    .windows = WindowLayers::even,
    .complete = complete_gemma2,
    .read = read_gemma2,
    .write = write_gemma2,
    .weights = dense_weights};

}  // namespace maxplus
