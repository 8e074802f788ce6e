#pragma once
// Gated feed-forward activations (Shazeer, 2020), out = g(gate) * up, and soft caps of logits.
//
// SwiGLU: g(x) = silu(x) = x / (1 + exp(-x)).
// GeGLU: g(x) = gelu(x) in its tanh form (Hendrycks and Gimpel, 2016), x / 2 (1 + tanh u) = x / (1 + exp(-2 u)) with
// u = sqrt(2 / pi) (x + 0.044715 x^3).

#include "device/stream.hpp"
#include "tensor/tensor_view.hpp"

namespace maxplus::ops {

// out [T, F]; gate_up [T, 2 F]: the F gates, then the F ups of a token.
void swiglu(const Stream& stream, TensorView out, TensorView gate_up);
void geglu(const Stream& stream, TensorView out, TensorView gate_up);
// d_gate_up [T, 2 F]; d_out [T, F].
void swiglu_backward(const Stream& stream, TensorView d_gate_up, TensorView d_out, TensorView gate_up);
void geglu_backward(const Stream& stream, TensorView d_gate_up, TensorView d_out, TensorView gate_up);

// out = cap * tanh(in * (1 / cap)); out, in [R, V], out may be in. cap > 0.
void soft_cap(const Stream& stream, TensorView out, TensorView in, float cap);
// d_in = d_out * (1 - (out / cap)^2), out being that of soft_cap; d_in, d_out, out [R, V], d_in may be d_out.
void soft_cap_backward(const Stream& stream, TensorView d_in, TensorView d_out, TensorView out, float cap);

}  // namespace maxplus::ops
