#pragma once
// Element-wise bodies and those of the optimizer, over one thread's contiguous run of elements.

#include <cstdint>

namespace maxplus::host {

// The numbers of ops::AdamWStep.
struct AdamWNumbers {
  float learning_rate, beta1, beta2, epsilon, weight_decay, gradient_scale, correction1, correction2;
};

struct ElementwiseTable {
  void (*fill)(float* out, float value, std::int64_t count);
  void (*add)(float* out, const float* a, const float* b, std::int64_t count);
  void (*scale)(float* out, const float* in, float factor, std::int64_t count);
  void (*to_bf16)(std::uint16_t* out, const float* in, std::int64_t count);
  void (*from_bf16)(float* out, const std::uint16_t* in, std::int64_t count);
  std::int64_t (*count_not_finite)(const float* values, std::int64_t count);
  void (*adamw)(float* weight, float* first_moment, float* second_moment, const float* gradient,
                const AdamWNumbers& numbers, std::int64_t count);
  double (*sum_of_squares)(const float* values, std::int64_t count);
};

namespace plain {
const ElementwiseTable& elementwise_table();
}
namespace avx2 {
const ElementwiseTable& elementwise_table();
}
namespace avx512 {
const ElementwiseTable& elementwise_table();
}

}  // namespace maxplus::host
