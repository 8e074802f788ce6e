// Walks the family's list of weights once, adding up offsets.
#include "model/weight_layout.hpp"

#include <utility>

#include "model/families/family.hpp"

namespace maxplus {

TensorView part_of_block(TensorView block, std::int64_t first, const std::vector<std::int64_t>& extents) {
  std::int64_t count = 1;
  for (std::int64_t extent : extents) count *= extent;
  MAXPLUS_REQUIRE(block.rank() == 1 && first >= 0 && first + count <= block.size(), "a part of " + describe(block));
  void* data = block.data() == nullptr
                   ? nullptr
                   : static_cast<char*>(block.data()) + static_cast<std::size_t>(first) * size_of(block.dtype());
  return TensorView(data, block.dtype(), block.space(), std::span<const std::int64_t>(extents));
}

WeightViews weight_views(const ModelConfig& config, TensorView block) {
  WeightViews views;
  views.layer.resize(static_cast<std::size_t>(config.layers));
  std::int64_t offset = 0;
  for (const WeightSpec& spec : find_family(config.family, "model").weights(config)) {
    LayerWeights* layer = spec.layer < 0 ? nullptr : &views.layer[static_cast<std::size_t>(spec.layer)];
    switch (spec.role) {
      case WeightRole::embedding: views.embedding = part_of_block(block, offset, spec.extents); break;
      case WeightRole::attention_norm: layer->attention_norm = part_of_block(block, offset, spec.extents); break;
      case WeightRole::query: layer->qkv = part_of_block(block, offset, {config.qkv_columns(), config.width}); break;
      case WeightRole::key: break;    // part of qkv
      case WeightRole::value: break;  // part of qkv
      case WeightRole::query_bias: layer->qkv_bias = part_of_block(block, offset, {config.qkv_columns()}); break;
      case WeightRole::key_bias: break;    // part of qkv_bias
      case WeightRole::value_bias: break;  // part of qkv_bias
      case WeightRole::query_norm: layer->query_norm = part_of_block(block, offset, spec.extents); break;
      case WeightRole::key_norm: layer->key_norm = part_of_block(block, offset, spec.extents); break;
      case WeightRole::attention_output: layer->attention_output = part_of_block(block, offset, spec.extents); break;
      case WeightRole::attention_output_norm:
        layer->attention_output_norm = part_of_block(block, offset, spec.extents);
        break;
      case WeightRole::ffn_norm: layer->ffn_norm = part_of_block(block, offset, spec.extents); break;
      case WeightRole::gate: layer->gate_up = part_of_block(block, offset, {2 * config.ffn_width, config.width}); break;
      case WeightRole::up: break;  // part of gate_up
      case WeightRole::down: layer->down = part_of_block(block, offset, spec.extents); break;
      case WeightRole::ffn_output_norm: layer->ffn_output_norm = part_of_block(block, offset, spec.extents); break;
      case WeightRole::final_norm: views.final_norm = part_of_block(block, offset, spec.extents); break;
      case WeightRole::head: views.head = part_of_block(block, offset, spec.extents); break;
      case WeightRole::score: views.score = part_of_block(block, offset, spec.extents); break;
    }
    std::int64_t count = 1;
    for (std::int64_t extent : spec.extents) count *= extent;
    offset += count;
  }
  if (config.tied()) views.head = views.embedding;
  return views;
}

}  // namespace maxplus
