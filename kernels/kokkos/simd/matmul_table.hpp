#pragma once
// One thread's share of a matrix product, and the packing of matrices into panels, behind plain function pointers.

#include <cstdint>

namespace maxplus::host {

// Fp32 as it stands, or rounded to bf16 with neighbouring summed indices exchanged (ops/matmul.hpp, bf16_dot). The
// products themselves are the same fp32 chains in both cases; rounding and exchange happen where a matrix is packed.
enum class Packing : std::uint8_t { as_is, bf16_pairs };
enum class Start : std::uint8_t { from_zero, from_output };

// output [rows, outputs] = or += a [rows, inputs] times panels, or residual + that.
struct ProductJob {
  const float* a;  // element (row, k) at row * a_row_stride + k * a_k_stride
  std::int64_t a_row_stride, a_k_stride;
  Packing packing;      // of a; the panels are packed already
  const float* panels;  // [panel][inputs][16]
  std::int64_t inputs, outputs;
  float* output;
  std::int64_t output_stride;
  Start start;
  const float* residual;  // null: none; its rows are output_stride apart; may be `output`
};

struct ProductShare {
  std::int64_t first_row, last_row, first_panel, last_panel;
};

// Panels of one thread to fill: panels [first_panel, last_panel) of `matrix` [rows, columns], row-major.
struct PackJob {
  float* panels;
  const float* matrix;
  std::int64_t rows, columns;
  Packing packing;
  std::int64_t first_panel, last_panel;
};

struct MatmulTable {
  // Up to so many rows the weights are streamed once past unpacked rows, and work is best cut by panels alone.
  std::int64_t few_rows;
  std::int64_t tile_rows;  // rows are best cut in multiples of this
  void (*product)(const ProductJob& job, const ProductShare& share, float* workspace, std::int64_t workspace_floats);
  void (*pack_rows)(const PackJob& job);     // outputs are the rows of the matrix, columns are summed
  void (*pack_columns)(const PackJob& job);  // outputs are the columns of the matrix, rows are summed
};

namespace plain {
const MatmulTable& matmul_table();
}
namespace avx2 {
const MatmulTable& matmul_table();
}
namespace avx512 {
const MatmulTable& matmul_table();
}

}  // namespace maxplus::host
