#pragma once
// One thread's share of a matrix product, and the packing of matrices into panels, behind plain function pointers.

#include <cstdint>

namespace maxplus::host {

enum class Start : std::uint8_t { from_zero, from_output };

// output [rows, outputs] = or += a [rows, inputs] times panels, or residual + that.
struct ProductJob {
  const float* a;  // element (row, k) at row * a_row_stride + k * a_k_stride
  std::int64_t a_row_stride, a_k_stride;
  const float* panels;  // words: fp32 [panel][inputs][16], bf16 [panel][stored units][16 pairs]
  std::int64_t inputs, outputs;
  float* output;
  std::int64_t output_stride;
  Start start;
  const float* residual;  // null: none; its rows are output_stride apart; may be `output`
};

struct ProductShare {
  std::int64_t first_row, last_row, first_panel, last_panel;
  bool same_rows;  // the thread's last share had the same rows, so that its workspace may hold them packed
};

// Panels of one thread to fill: panels [first_panel, last_panel) of `matrix` [rows, columns], row-major.
struct PackJob {
  float* panels;
  const float* matrix;
  std::int64_t rows, columns;
  std::int64_t first_panel, last_panel;
};

// Pairs of summed indices that a bf16 panel holds: a multiple of 16, the rest filled with zeros.
constexpr std::int64_t bf16_units(std::int64_t inputs) { return (inputs + 31) / 32 * 16; }

struct MatmulTable {
  // Up to so many rows the weights are streamed once past unpacked rows, and work is best cut by panels alone.
  std::int64_t few_rows;
  std::int64_t tile_rows;  // rows are best cut in multiples of this
  // The most rows of a share with more than few_rows: their packed form stays in the second cache.
  std::int64_t (*block_rows)(const ProductJob& job);
  void (*product)(const ProductJob& job, const ProductShare& share, float* workspace, std::int64_t workspace_floats);
  void (*pack_rows)(const PackJob& job);     // outputs are the rows of the matrix, columns are summed
  void (*pack_columns)(const PackJob& job);  // outputs are the columns of the matrix, rows are summed
};

namespace plain {
const MatmulTable& matmul_table();       // fp32
const MatmulTable& matmul_bf16_table();  // the order of the dot-product instruction, by fp32 chains
}  // namespace plain
namespace avx2 {
const MatmulTable& matmul_table();       // fp32
const MatmulTable& matmul_bf16_table();  // the order of the dot-product instruction, by fp32 chains
}  // namespace avx2
namespace avx512 {
const MatmulTable& matmul_table();       // fp32
const MatmulTable& matmul_bf16_table();  // the order of the dot-product instruction, by fp32 chains
}  // namespace avx512

}  // namespace maxplus::host
