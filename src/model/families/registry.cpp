// The table of families. A new one is its source file and one line here.
#include "model/families/family.hpp"

#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"

namespace maxplus {

namespace {

const std::array<const Family*, 1> kFamilies{
    &kLlamaFamily,
};

}  // namespace

const Family& find_family(std::string_view name, const std::string& where) {
  for (const Family* family : kFamilies) {
    if (family->name == name) return *family;
  }
  throw Error(ExitCode::data, Fault{where, fmt::format("model family '{}' is not supported", name),
                                    fmt::format("model_type one of: {}", fmt::join(family_names(), ", ")),
                                    "use a model of a supported family"});
}

std::vector<std::string> family_names() {
  std::vector<std::string> names;
  for (const Family* family : kFamilies) names.emplace_back(family->name);
  return names;
}

std::vector<WeightSpec> dense_weights(const ModelConfig& c) {
  std::vector<WeightSpec> weights;
  const auto add = [&](std::string name, WeightRole role, std::int64_t layer, std::vector<std::int64_t> extents) {
    weights.push_back({std::move(name), role, layer, std::move(extents)});
  };
  add("model.embed_tokens.weight", WeightRole::embedding, -1, {c.vocabulary, c.width});
  for (std::int64_t l = 0; l < c.layers; ++l) {
    const std::string prefix = fmt::format("model.layers.{}.", l);
    add(prefix + "input_layernorm.weight", WeightRole::attention_norm, l, {c.width});
    add(prefix + "self_attn.q_proj.weight", WeightRole::query, l, {c.query_columns(), c.width});
    add(prefix + "self_attn.k_proj.weight", WeightRole::key, l, {c.kv_columns(), c.width});
    add(prefix + "self_attn.v_proj.weight", WeightRole::value, l, {c.kv_columns(), c.width});
    add(prefix + "self_attn.o_proj.weight", WeightRole::attention_output, l, {c.width, c.query_columns()});
    add(prefix + "post_attention_layernorm.weight", WeightRole::ffn_norm, l, {c.width});
    add(prefix + "mlp.gate_proj.weight", WeightRole::gate, l, {c.ffn_width, c.width});
    add(prefix + "mlp.up_proj.weight", WeightRole::up, l, {c.ffn_width, c.width});
    add(prefix + "mlp.down_proj.weight", WeightRole::down, l, {c.width, c.ffn_width});
  }
  add("model.norm.weight", WeightRole::final_norm, -1, {c.width});
  if (!c.tie_embeddings) add("lm_head.weight", WeightRole::head, -1, {c.vocabulary, c.width});
  return weights;
}

}  // namespace maxplus
