#pragma once
// Matrix products of linear maps. Every output is one chain over the summed index (README.md), so a row of a product
// does not depend on the other rows: drawing a token, scoring it and training on it give the same bits.
//
// Arithmetic::f32 is that chain. Arithmetic::bf16_dot rounds both inputs to bf16 (nearest even) and takes the chain in
// the order of the dot-product instruction: index 1 before 0, 3 before 2, ...; an odd last index stands alone.

#include <cstdint>

#include "device/stream.hpp"
#include "tensor/tensor_view.hpp"

namespace maxplus::ops {

enum class Arithmetic : std::uint8_t { f32, bf16_dot };

// Elements (f32) of a matrix packed for products with `outputs` outputs and `inputs` summed indices: panels of 16
// outputs, each [inputs][16], the last one filled with zeros.
std::int64_t packed_elements(std::int64_t outputs, std::int64_t inputs);
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
// the tokens into several calls gives the same bits. (bf16_dot: pairs of tokens within a call.)
// scratch: weight_gradient_scratch(...) f32 elements.
std::int64_t weight_gradient_scratch(const Stream& stream, std::int64_t tokens, std::int64_t outputs,
                                     std::int64_t inputs);
void matmul_weight_gradient(const Stream& stream, TensorView d_weight, TensorView d_out, TensorView in,
                            TensorView scratch, Arithmetic arithmetic);

}  // namespace maxplus::ops
