#pragma once
// SwiGLU (Shazeer, 2020): out = silu(gate) * up, silu(x) = x / (1 + exp(-x)).

#include "device/stream.hpp"
#include "tensor/tensor_view.hpp"

namespace maxplus::ops {

// out [T, F]; gate_up [T, 2 F]: the F gates, then the F ups of a token.
void swiglu(const Stream& stream, TensorView out, TensorView gate_up);
// d_gate_up [T, 2 F]; d_out [T, F].
void swiglu_backward(const Stream& stream, TensorView d_gate_up, TensorView d_out, TensorView gate_up);

}  // namespace maxplus::ops
