#pragma once
// Innermost bodies of drawing a token. z = logit * inverse_temperature.

#include <cstdint>

namespace maxplus::host {

inline constexpr std::int64_t kSamplingBlock = 256;

struct SamplingTable {
  // block_sum[b] = sum of exp(z - maximum) over block b by lanes; returns the sum over all by lanes, the bits of
  // softmax_statistics' s.
  float (*block_sums)(float* block_sum, const float* logits, std::int64_t vocabulary, float maximum,
                      float inverse_temperature);
  // out[j] = exp(z_j - maximum).
  void (*exponentials)(float* out, const float* logits, std::int64_t count, float maximum, float inverse_temperature);
  // The index of the largest logit, the lowest among equals.
  std::int64_t (*argmax)(const float* logits, std::int64_t vocabulary);
  float (*log)(float x);
};

namespace plain {
const SamplingTable& sampling_table();
}
namespace avx2 {
const SamplingTable& sampling_table();
}
namespace avx512 {
const SamplingTable& sampling_table();
}

}  // namespace maxplus::host
