#pragma once
// RMS normalisation (Zhang and Sennrich, 2019): out = in * r * weight, r = 1 / sqrt(mean(in^2) + epsilon), a row.

#include <cstdint>

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
// The same where nothing arrives past the norm; d_in may be d_out itself.
void rms_norm_backward_alone(const Stream& stream, TensorView d_in, TensorView d_weight, TensorView d_out,
                             TensorView in, TensorView inverse_rms, TensorView weight);

// Norm of each query head by query_weight [D] and of each key head by key_weight [D], in place in qkv
// [T, (H + 2 G) * D]; values stay. raw [T, (H + G) * D]: what stood there before; inverse_rms [T, H + G].
void head_norm(const Stream& stream, TensorView qkv, TensorView raw, TensorView inverse_rms, TensorView query_weight,
               TensorView key_weight, std::int64_t heads, std::int64_t kv_heads, std::int64_t head_width,
               float epsilon);
// d_qkv [T, (H + 2 G) * D] in place, from gradients of normed queries and keys to those of raw ones. d_query_weight,
// d_key_weight [D] += a chain over tokens ascending, heads within a token.
void head_norm_backward(const Stream& stream, TensorView d_qkv, TensorView d_query_weight, TensorView d_key_weight,
                        TensorView raw, TensorView inverse_rms, TensorView query_weight, TensorView key_weight,
                        std::int64_t heads, std::int64_t kv_heads, std::int64_t head_width);

}  // namespace maxplus::ops
