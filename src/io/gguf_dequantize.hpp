#pragma once
// Blocks of a GGUF tensor as f32.
//
// A value is scale x integer, or scale x integer + minimum. Scales are 16-bit floats times small integers, so every
// product is exact in f32 and the last addition rounds once: the result does not depend on how it is computed.

#include <cstddef>
#include <span>
#include <string>

#include "io/gguf.hpp"
#include "io/gguf_types.hpp"

namespace maxplus {

// F32, F16, BF16, Q8_0, Q4_0, Q4_1, Q5_0, Q5_1 and Q2_K to Q6_K.
bool readable_as_f32(const GgufTensorType& type);
std::string types_readable_as_f32();  // their names, for a message

// Whole blocks, such as a row or a whole tensor; `out` has a place for each element.
// Precondition: readable_as_f32(type).
void dequantize(const GgufTensorType& type, std::span<const std::byte> blocks, std::span<float> out);

}  // namespace maxplus
