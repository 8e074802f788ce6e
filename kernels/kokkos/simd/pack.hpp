#pragma once
// Packing for matrix products: panels of sixteen outputs, and rows side by side for one tile.

#include "kokkos/simd/lanes.hpp"
#include "kokkos/simd/matmul_table.hpp"

namespace maxplus::host::MAXPLUS_SIMD {

// Where summed index k of `count` is read from: its neighbour in bf16_pairs; an odd last one stands alone.
MAXPLUS_LANE std::int64_t source_index(std::int64_t k, std::int64_t count, Packing packing) {
  return packing == Packing::bf16_pairs && (k ^ 1) < count ? k ^ 1 : k;
}

MAXPLUS_LANE float packed_value(float x, Packing packing) {
  return packing == Packing::bf16_pairs ? round_bf16_1(x) : x;
}
MAXPLUS_LANE Lanes packed_value(Lanes x, Packing packing) { return packing == Packing::bf16_pairs ? round_bf16(x) : x; }

// out [k_count][width] <- rows of a, `width` apart in out; k from first_k on.
template <int width>
inline void pack_tile_rows(float* out, const ProductJob& job, std::int64_t first_row, std::int64_t rows,
                           std::int64_t first_k, std::int64_t k_count) {
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

// The same for all tiles of a block whose rows lie side by side in memory (a_row_stride 1): a few k at a time for all
// tiles, so that each line is read once. More k than ways of the first cache would push each other out, since the
// strides are often multiples of 4 KiB.
template <int width>
inline void pack_tiles_across(float* out, const ProductJob& job, std::int64_t first_row, std::int64_t rows,
                              std::int64_t first_k, std::int64_t k_count) {
  constexpr std::int64_t kTogether = 8;
  const float* a = job.a + first_row;
  for (std::int64_t begin = 0; begin < k_count; begin += kTogether) {
    const std::int64_t end = begin + kTogether < k_count ? begin + kTogether : k_count;
    for (std::int64_t k = first_k + begin + kTogether; k < first_k + end + kTogether && k < job.inputs; ++k) {
      for (std::int64_t r = 0; r < rows; r += kLanes) __builtin_prefetch(a + k * job.a_k_stride + r, 0, 2);
    }
    std::int64_t row = 0;
    for (; row + width <= rows && job.packing == Packing::as_is; row += width) {
      float* to = out + row * k_count + begin * width;
      for (std::int64_t k = begin; k < end; ++k, to += width) {
        __builtin_memcpy(to, a + (first_k + k) * job.a_k_stride + row, width * sizeof(float));
      }
    }
    for (; row < rows; ++row) {
      float* to = out + row / width * width * k_count + row % width;
      for (std::int64_t k = begin; k < end; ++k) {
        to[k * width] =
            packed_value(a[source_index(first_k + k, job.inputs, job.packing) * job.a_k_stride + row], job.packing);
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
      for (std::int64_t j = 0; j < width; ++j)
        out[k * kLanes + j] = packed_value(in[j * job.columns + from], job.packing);
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
