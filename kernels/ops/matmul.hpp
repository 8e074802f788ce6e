#pragma once
// Matrix products of linear maps. Every output is one chain over the summed index (README.md), so a row of a product
// does not depend on the other rows: drawing a token, scoring it and training on it give the same bits.
//
// Arithmetic::f32 is that chain. The others round both inputs to bf16 (nearest even), a missing index being zero:
//   bf16_dot     the chain in the order of the dot-product instruction: index 1 before 0, 3 before 2, ...
//   bf16_tiles   for each 32 indices even and odd ones are two chains from zero, and the sum is acc + (even + odd), as
//                in a tile product
// Every processor can compute each of them, with the same bits; a processor's own is the fast one. One job uses one.

#include <cstdint>
#include <string_view>

#include "device/stream.hpp"
#include "tensor/tensor_view.hpp"

namespace maxplus::ops {

enum class Arithmetic : std::uint8_t { f32, bf16_dot, bf16_tiles };
std::string_view name_of(Arithmetic arithmetic);
// The bf16 arithmetic that is fast on this processor.
Arithmetic native_bf16();

// A matrix packed for products with `outputs` outputs and `inputs` summed indices: panels of 16 outputs, the last one
// filled with zeros; f32 [inputs][16], or bf16 [pairs of inputs, a multiple of 16][16][2].
DType packed_type(Arithmetic arithmetic);
std::int64_t packed_elements(std::int64_t outputs, std::int64_t inputs, Arithmetic arithmetic);
inline constexpr std::int64_t kPanelWidth = 16;

// packed <- weight [N, K], for y = x weight^T (outputs N, summed K).
void pack_weight(const Stream& stream, TensorView packed, TensorView weight, Arithmetic arithmetic);
// packed <- weight [N, K], for d_x = d_y weight (outputs K, summed N).
void pack_weight_transposed(const Stream& stream, TensorView packed, TensorView weight, Arithmetic arithmetic);

// out [M, outputs] = in [M, inputs] times the packed matrix. Overwrites. With Addend::residual, out is then
// `residual` + product, the product's chain first (residual [M, outputs], may be `out` itself).
void matmul(const Stream& stream, TensorView out, TensorView in, TensorView packed, std::int64_t outputs,
            Arithmetic arithmetic);
void matmul_add_residual(const Stream& stream, TensorView out, TensorView residual, TensorView in, TensorView packed,
                         std::int64_t outputs, Arithmetic arithmetic);

// d_weight [N, K] += d_out [M, N]^T in [M, K]: the chain over tokens m ascending goes on from what is there, so cutting
// the tokens into several calls gives the same bits. (bf16: pairs, or groups of 32, of tokens within a call.)
// scratch: weight_gradient_scratch(...) f32 elements.
std::int64_t weight_gradient_scratch(const Stream& stream, std::int64_t tokens, std::int64_t outputs,
                                     std::int64_t inputs, Arithmetic arithmetic);
void matmul_weight_gradient(const Stream& stream, TensorView d_weight, TensorView d_out, TensorView in,
                            TensorView scratch, Arithmetic arithmetic);

}  // namespace maxplus::ops
