#pragma once
// Where the network finds its matrices in a block of weights, or of gradients, in storage order.
//
// Query, key and value of a layer are one matrix [qkv_columns, C], their biases one vector, gate and up one matrix
// [2 F, C]: published tensors are parts of them. What a family does not have stays without extents.

#include <vector>

#include "model/model_config.hpp"
#include "tensor/tensor_view.hpp"

namespace maxplus {

struct LayerWeights {
  TensorView attention_norm;         // [C]
  TensorView qkv;                    // [(H + 2 G) D, C]
  TensorView qkv_bias;               // [(H + 2 G) D]
  TensorView query_norm;             // [D]
  TensorView key_norm;               // [D]
  TensorView attention_output;       // [C, H D]
  TensorView attention_output_norm;  // [C]
  TensorView ffn_norm;               // [C]
  TensorView gate_up;                // [2 F, C]
  TensorView down;                   // [C, F]
  TensorView ffn_output_norm;        // [C]
};

struct WeightViews {
  TensorView embedding;  // [V, C]
  std::vector<LayerWeights> layer;
  TensorView final_norm;  // [C]
  TensorView head;        // [V, C]; the embedding when tied
  TensorView score;       // [1, C]
};

// `block` is one dimension of f32, at least parameter_count(config) of them; it may be without data (counting).
WeightViews weight_views(const ModelConfig& config, TensorView block);

// Elements [first, first + count) of a block under the given extents.
TensorView part_of_block(TensorView block, std::int64_t first, const std::vector<std::int64_t>& extents);

}  // namespace maxplus
