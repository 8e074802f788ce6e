#pragma once
// RMS normalisation (Zhang and Sennrich, 2019): out = in * r * weight, r = 1 / sqrt(mean(in^2) + epsilon), a row.

#include "device/stream.hpp"
#include "tensor/tensor_view.hpp"

namespace maxplus::ops {

// out, in [T, C]; inverse_rms [T] (kept for backward); weight [C]. The sum of squares is by lanes.
void rms_norm(const Stream& stream, TensorView out, TensorView inverse_rms, TensorView in, TensorView weight,
              float epsilon);

// d_in [T, C] = addend + d in; addend [T, C] is the gradient that arrives past the norm (may be d_in itself).
// d_weight [C] += sum over t of d_out * in * r, a chain over t ascending.
void rms_norm_backward(const Stream& stream, TensorView d_in, TensorView d_weight, TensorView addend, TensorView d_out,
                       TensorView in, TensorView inverse_rms, TensorView weight);

}  // namespace maxplus::ops
