#pragma once
// Drawing a token from a row of logits with a uniform number that the caller took from its counters.

#include <cstdint>

#include "device/stream.hpp"
#include "tensor/tensor_view.hpp"

namespace maxplus::ops {

struct SamplingRule {
  float inverse_temperature = 1.0f;
  bool greedy = false;     // the largest logit, the lowest index among equals; log_prob is at inverse_temperature
  std::int32_t top_k = 0;  // 0: off. Keeps the k largest (ties by lower index)
  float top_p = 1.0f;      // 1: off. Keeps the smallest set of largest probabilities whose sum reaches top_p
};

// token [R] i32, log_prob [R] from logits [R, V], uniform [R] in [0, 1). Without top_k and top_p, log_prob has the bits
// of gather_log_prob, and the token is the first j whose running sum of exp(z - m) exceeds uniform * s (sums over
// blocks of 256 first, then within the block, both ascending). With them (top_k first, top_p of what it left), the kept
// set is renormalised, summed from its most probable token on, and log_prob is of that distribution. row_maximum,
// row_log_sum [R] come from softmax_statistics. scratch: sampling_scratch f32 elements.
std::int64_t sampling_scratch(const Stream& stream, std::int64_t vocabulary);
void sample(const Stream& stream, TensorView token, TensorView log_prob, TensorView logits, TensorView row_maximum,
            TensorView row_log_sum, TensorView uniform, TensorView scratch, const SamplingRule& rule);

}  // namespace maxplus::ops
