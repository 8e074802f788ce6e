// What dense families share: the published names of their weights, windows by layer, and refusals.
#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "model/families/family.hpp"

namespace maxplus {

namespace {

constexpr const char *kFullLayer = "full_attention", *kWindowLayer = "sliding_attention";

class WeightList {
 public:
  void add(std::string name, WeightRole role, std::vector<std::int64_t> extents) {
    weights_.push_back({prefix_ + std::move(name), role, layer_, std::move(extents)});
  }
  void enter_layer(std::int64_t layer) {
    layer_ = layer;
    prefix_ = fmt::format("model.layers.{}.", layer);
  }
  void leave_layers() {
    layer_ = -1;
    prefix_.clear();
  }
  std::vector<WeightSpec> take() { return std::move(weights_); }

 private:
  std::vector<WeightSpec> weights_;
  std::string prefix_;
  std::int64_t layer_ = -1;
};

void add_attention(WeightList& list, const ModelConfig& c) {
  list.add("self_attn.q_proj.weight", WeightRole::query, {c.query_columns(), c.width});
  list.add("self_attn.k_proj.weight", WeightRole::key, {c.kv_columns(), c.width});
  list.add("self_attn.v_proj.weight", WeightRole::value, {c.kv_columns(), c.width});
  if (c.block.qkv_bias) {
    list.add("self_attn.q_proj.bias", WeightRole::query_bias, {c.query_columns()});
    list.add("self_attn.k_proj.bias", WeightRole::key_bias, {c.kv_columns()});
    list.add("self_attn.v_proj.bias", WeightRole::value_bias, {c.kv_columns()});
  }
  if (c.block.query_key_norm) {
    list.add("self_attn.q_norm.weight", WeightRole::query_norm, {c.head_width});
    list.add("self_attn.k_norm.weight", WeightRole::key_norm, {c.head_width});
  }
  list.add("self_attn.o_proj.weight", WeightRole::attention_output, {c.width, c.query_columns()});
}

void add_feed_forward(WeightList& list, const ModelConfig& c) {
  list.add("mlp.gate_proj.weight", WeightRole::gate, {c.ffn_width, c.width});
  list.add("mlp.up_proj.weight", WeightRole::up, {c.ffn_width, c.width});
  list.add("mlp.down_proj.weight", WeightRole::down, {c.width, c.ffn_width});
}

}  // namespace

// "post_attention_layernorm" is the norm before the feed-forward part, unless there are norms behind each part.
std::vector<WeightSpec> dense_weights(const ModelConfig& c) {
  WeightList list;
  list.add("model.embed_tokens.weight", WeightRole::embedding, {c.vocabulary, c.width});
  for (std::int64_t l = 0; l < c.layers; ++l) {
    list.enter_layer(l);
    list.add("input_layernorm.weight", WeightRole::attention_norm, {c.width});
    add_attention(list, c);
    if (c.block.output_norms) {
      list.add("post_attention_layernorm.weight", WeightRole::attention_output_norm, {c.width});
      list.add("pre_feedforward_layernorm.weight", WeightRole::ffn_norm, {c.width});
      add_feed_forward(list, c);
      list.add("post_feedforward_layernorm.weight", WeightRole::ffn_output_norm, {c.width});
    } else {
      list.add("post_attention_layernorm.weight", WeightRole::ffn_norm, {c.width});
      add_feed_forward(list, c);
    }
  }
  list.leave_layers();
  list.add("model.norm.weight", WeightRole::final_norm, {c.width});
  if (c.token_head && !c.tie_embeddings) list.add("lm_head.weight", WeightRole::head, {c.vocabulary, c.width});
  if (c.value_head) list.add(kScoreWeight, WeightRole::score, {1, c.width});
  return list.take();
}

std::vector<std::int64_t> windows_of(WindowLayers pattern, std::int64_t layers, std::int64_t window) {
  if (pattern == WindowLayers::none || window == 0) return {};
  std::vector<std::int64_t> windows(static_cast<std::size_t>(layers), window);
  for (std::size_t l = 1; pattern == WindowLayers::even && l < windows.size(); l += 2) windows[l] = 0;
  return windows;
}

std::vector<std::int64_t> read_windows(ConfigReader& reader, const ModelConfig& config, WindowLayers pattern,
                                       std::int64_t window) {
  if (!reader.has("layer_types") || window == 0) return windows_of(pattern, config.layers, window);
  const nlohmann::json& types = reader.object()["layer_types"];
  const bool known = types.is_array() && std::all_of(types.begin(), types.end(), [](const nlohmann::json& type) {
                       return type == kFullLayer || type == kWindowLayer;
                     });
  if (!known || static_cast<std::int64_t>(types.size()) != config.layers) {
    reader.fault("'layer_types' is another list",
                 fmt::format("{} times '{}' or '{}'", config.layers, kFullLayer, kWindowLayer), "");
    return {};
  }
  std::vector<std::int64_t> windows;
  for (const nlohmann::json& type : types) windows.push_back(type == kWindowLayer ? window : 0);
  if (std::all_of(windows.begin(), windows.end(), [](std::int64_t w) { return w == 0; })) windows.clear();
  return windows;
}

std::int64_t window_width(const ModelConfig& config) {
  return config.windows.empty() ? 0 : *std::max_element(config.windows.begin(), config.windows.end());
}

void write_layer_types(nlohmann::ordered_json& json, const ModelConfig& config) {
  nlohmann::ordered_json types = nlohmann::ordered_json::array();
  for (std::int64_t l = 0; l < config.layers; ++l) {
    types.push_back(config.block_of(l).window > 0 ? kWindowLayer : kFullLayer);
  }
  json["layer_types"] = std::move(types);
}

void refuse_flags(ConfigReader& reader, std::initializer_list<const char*> keys) {
  for (const char* key : keys) {
    if (reader.flag_or(key, false)) reader.fault(fmt::format("'{}' is true", key), "false or absent", "");
  }
}

}  // namespace maxplus
