#pragma once
// Packing for matrix products: panels of sixteen outputs, and rows side by side for one tile.

#include "kokkos/simd/lanes.hpp"
#include "kokkos/simd/matmul_table.hpp"

namespace maxplus::host::MAXPLUS_SIMD {

// Where summed index k of `count` is read from: its neighbour in bf16_pairs; an odd last one stands alone.
MAXPLUS_LANE std::int64_t source_index(std::int64_t k, std::int64_t count, Packing packing) {
  return packing == Packing::bf16_pairs && (k ^ 1) < count ? k ^ 1 : k;
}

MAXPLUS_LANE float packed_value(float x, Packing packing) { return packing == Packing::bf16_pairs ? round_bf16_1(x) : x; }
MAXPLUS_LANE Lanes packed_value(Lanes x, Packing packing) { return packing == Packing::bf16_pairs ? round_bf16(x) : x; }

// out [k_count][width] <- rows of a, `width` apart in out; k from first_k on.
template <int width>
inline void pack_tile_rows(float* out, const ProductJob& job, std::int64_t first_row, std::int64_t rows, std::int64_t first_k,
                           std::int64_t k_count) {
  if (job.a_row_stride == 1) {
    for (std::int64_t k = 0; k < k_count; ++k) {
      const float* in = job.a + source_index(first_k + k, job.inputs, job.packing) * job.a_k_stride + first_row;
      for (std::int64_t r = 0; r < rows; ++r) out[k * width + r] = packed_value(in[r], job.packing);
    }
    return;
  }
  for (std::int64_t r = 0; r < rows; ++r) {
    const float* in = job.a + (first_row + r) * job.a_row_stride;
    if (job.packing == Packing::as_is) {
      in += first_k * job.a_k_stride;
      for (std::int64_t k = 0; k < k_count; ++k) out[k * width + r] = in[k * job.a_k_stride];
    } else {
      for (std::int64_t k = 0; k < k_count; ++k) {
        out[k * width + r] = round_bf16_1(in[source_index(first_k + k, job.inputs, job.packing) * job.a_k_stride]);
      }
    }
  }
}

// Sixteen rows of the matrix become the columns of a panel; missing ones are zero.
inline void pack_rows(const PackJob& job) {
  for (std::int64_t panel = job.first_panel; panel < job.last_panel; ++panel) {
    float* out = job.panels + panel * job.columns * kLanes;
    const float* in = job.matrix + panel * kLanes * job.columns;
    const std::int64_t width = job.rows - panel * kLanes < kLanes ? job.rows - panel * kLanes : kLanes;
    if (job.packing == Packing::as_is && width == kLanes) {
      for (std::int64_t k = 0; k < job.columns; ++k) {
#pragma GCC unroll 16
        for (int j = 0; j < kLanes; ++j) out[k * kLanes + j] = in[j * job.columns + k];
      }
      continue;
    }
    for (std::int64_t k = 0; k < job.columns; ++k) {
      const std::int64_t from = source_index(k, job.columns, job.packing);
      for (std::int64_t j = 0; j < width; ++j) out[k * kLanes + j] = packed_value(in[j * job.columns + from], job.packing);
      for (std::int64_t j = width; j < kLanes; ++j) out[k * kLanes + j] = 0.0f;
    }
  }
}

// Sixteen columns of the matrix, row after row.
inline void pack_columns(const PackJob& job) {
  for (std::int64_t panel = job.first_panel; panel < job.last_panel; ++panel) {
    float* out = job.panels + panel * job.rows * kLanes;
    const float* in = job.matrix + panel * kLanes;
    const std::int64_t left = job.columns - panel * kLanes;
    const int width = left < kLanes ? static_cast<int>(left) : kLanes;
    for (std::int64_t k = 0; k < job.rows; ++k) {
      const float* row = in + source_index(k, job.rows, job.packing) * job.columns;
      store(out + k * kLanes, packed_value(load_masked(row, width, 0.0f), job.packing));
    }
  }
}

}  // namespace maxplus::host::MAXPLUS_SIMD
