#pragma once
// From logits to log-probabilities and back, a block of rows at a time, so that no tokens x vocabulary buffer exists.
//
// z = logit * inverse_temperature. Per row: m = max z; s = sum exp(z - m) by lanes; lse = log s (relative to m).
// log p(j) = (z_j - m) - lse; entropy = lse - (sum exp(z - m) (z - m) by lanes) / s.
// The same functions serve drawing, scoring and training, at any block size.

#include "device/stream.hpp"
#include "tensor/tensor_view.hpp"

namespace maxplus::ops {

// For rows of logits [R, V]: row_maximum [R], row_log_sum [R] (lse above), entropy [R].
void softmax_statistics(const Stream& stream, TensorView row_maximum, TensorView row_log_sum, TensorView entropy,
                        TensorView logits, float inverse_temperature);

// log_prob [N] of (row[n], target[n]); row, target [N] i32. A row may have several targets.
void gather_log_prob(const Stream& stream, TensorView log_prob, TensorView logits, TensorView row_maximum,
                     TensorView row_log_sum, TensorView row, TensorView target, float inverse_temperature);

// logits [R, V] are overwritten by d_logits. For a row, over its targets in order: with g = sum of d_log_prob[n] and
// e = sum of d_entropy[n]: d_z_j = sum of d_log_prob[n] [j = target n] - p_j g - e p_j (log p_j + entropy);
// d_logit = d_z * inverse_temperature, the targets' parts added last. row [N] ascending; a row without targets gives
// zeros.
void log_prob_backward(const Stream& stream, TensorView logits, TensorView row_maximum, TensorView row_log_sum,
                       TensorView entropy, TensorView row, TensorView target, TensorView d_log_prob,
                       TensorView d_entropy, float inverse_temperature);

}  // namespace maxplus::ops
