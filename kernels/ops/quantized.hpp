#pragma once
// Numbers kept in 8 bits: blocks of 32 in order, each with a scale, x = scale * q with q from -127 to 127; the last
// block may be shorter. A block of zeros has scale 0. (The rule of GGUF's Q8_0, with a scale in f32 instead of f16.)

#include <cstdint>

#include "device/stream.hpp"
#include "tensor/tensor_view.hpp"

namespace maxplus::ops {

inline constexpr std::int64_t kQuantizedBlock = 32;

constexpr std::int64_t quantized_blocks(std::int64_t elements) {
  return (elements + kQuantizedBlock - 1) / kQuantizedBlock;
}

// out_u8 [n], out_scale f32 [quantized_blocks(n)] from in f32 [n], all finite; q is rounded to the nearest, halves away
// from 0, and stored as two's complement.
void quantize(const Stream& stream, TensorView out_u8, TensorView out_scale, TensorView in);
void dequantize(const Stream& stream, TensorView out, TensorView in_u8, TensorView scale);

}  // namespace maxplus::ops
