#pragma once
// Lookup of token embeddings.

#include "device/stream.hpp"
#include "tensor/tensor_view.hpp"

namespace maxplus::ops {

// out [T, C] = table [V, C] row token[t]; token [T] i32 in [0, V).
void embedding(const Stream& stream, TensorView out, TensorView table, TensorView token);
// d_table [V, C] row token[t] += d_out [T, C] row t, in token order.
void embedding_backward(const Stream& stream, TensorView d_table, TensorView d_out, TensorView token);
// out [R, C] = in [T, C] row row[r]; row [R] i32.
void gather_rows(const Stream& stream, TensorView out, TensorView in, TensorView row);
// out [T, C] = 0, then row row[r] += in [R, C] row r, r ascending.
void scatter_rows(const Stream& stream, TensorView out, TensorView in, TensorView row);

}  // namespace maxplus::ops
