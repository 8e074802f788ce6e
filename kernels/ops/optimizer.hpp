#pragma once
// AdamW (Loshchilov and Hutter, 2019) and the gradient's norm.

#include <cstdint>

#include "device/stream.hpp"
#include "tensor/tensor_view.hpp"

namespace maxplus::ops {

struct AdamWStep {
  float learning_rate, beta1, beta2, epsilon, weight_decay;
  float gradient_scale;            // of clipping; the gradient is multiplied by it first
  float correction1, correction2;  // 1 - beta1^step, sqrt(1 - beta2^step), computed in double by the caller
};

// weight, first_moment, second_moment [n] updated from gradient [n] (not changed):
// w *= 1 - lr wd; m = b1 m + (1 - b1) g; v = b2 v + (1 - b2) g^2; w -= lr / c1 * m / (sqrt(v) / c2 + epsilon).
void adamw(const Stream& stream, TensorView weight, TensorView first_moment, TensorView second_moment,
           TensorView gradient, const AdamWStep& step);

// Sums of squares in double over blocks of kNormBlock elements, each by lanes: partial [ceil(n / kNormBlock)] f64.
inline constexpr std::int64_t kNormBlock = 4096;
void squared_norm_blocks(const Stream& stream, TensorView partial, TensorView values);

}  // namespace maxplus::ops
