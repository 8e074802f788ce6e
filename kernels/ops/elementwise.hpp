#pragma once
// Small helpers over any number of elements.

#include <cstdint>

#include "device/stream.hpp"
#include "tensor/tensor_view.hpp"

namespace maxplus::ops {

void fill(const Stream& stream, TensorView out, float value);
void copy(const Stream& stream, TensorView out, TensorView in);              // equal sizes and types
void add(const Stream& stream, TensorView out, TensorView a, TensorView b);  // out may be a or b
void scale(const Stream& stream, TensorView out, TensorView in, float factor);
// bf16 (nearest even) from f32 and back; NaN stays NaN.
void to_bf16(const Stream& stream, TensorView out_bf16, TensorView in);
void from_bf16(const Stream& stream, TensorView out, TensorView in_bf16);
// How many elements are not finite.
std::int64_t count_not_finite(const Stream& stream, TensorView values);
// Host memory to the stream's device and back; a copy on the host backend.
void copy_to_device(const Stream& stream, TensorView out, const void* host);
void copy_to_host(const Stream& stream, void* host, TensorView in);

}  // namespace maxplus::ops
