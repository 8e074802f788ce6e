#pragma once
// Biases of linear maps.

#include "device/stream.hpp"
#include "tensor/tensor_view.hpp"

namespace maxplus::ops {

// values [T, N] += bias [N], a row.
void add_bias(const Stream& stream, TensorView values, TensorView bias);
// d_bias [N] += d_values [T, N], added one row after the other.
void bias_gradient(const Stream& stream, TensorView d_bias, TensorView d_values);

}  // namespace maxplus::ops
