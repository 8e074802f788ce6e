#pragma once
// Arithmetic that a pass cannot avoid, for percent-of-limit figures. Norms, activations and softmax are not counted.

#include "model/model_config.hpp"

namespace maxplus {

// 2 N_body a token, 2 N_head a scored or sampled row, and 4 H D L for every pair of a token and a token it sees.
inline double forward_flops(const ModelConfig& config, double tokens, double pairs, double head_rows) {
  const double attention = 4.0 * static_cast<double>(config.query_columns()) * static_cast<double>(config.layers);
  return 2.0 * static_cast<double>(body_matrix_count(config)) * tokens +
         2.0 * static_cast<double>(head_matrix_count(config)) * head_rows + attention * pairs;
}

// Forward and backward: matrices cost three times the forward, attention three and a half times.
inline double training_flops(const ModelConfig& config, double tokens, double pairs, double head_rows) {
  return 3.0 * forward_flops(config, tokens, 0, head_rows) + 3.5 * forward_flops(config, 0, pairs, 0);
}

}  // namespace maxplus
