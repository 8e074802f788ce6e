#pragma once
// Packing of fp32 for matrix products: panels of sixteen outputs, and rows side by side for one tile.

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "kokkos/simd/lanes.hpp"
#include "kokkos/simd/matmul_table.hpp"

namespace maxplus::host::MAXPLUS_SIMD {

// Rows of a block in tiles of nearly equal height, since a tile of two or three rows cannot hide the latency of its
// chains.
struct TileCut {
  std::int64_t rows, tiles;
  TileCut(std::int64_t row_count, std::int64_t most) : rows(row_count), tiles((row_count + most - 1) / most) {}
  std::int64_t begin(std::int64_t tile) const { return rows * tile / tiles; }
};

// to [k_count][width] <- two rows side by side, sixteen k at a time; returns how many k are done. The same k of the
// rows `ahead` floats further are prefetched: each row is short, and the processor would begin to look ahead anew.
template <int width>
inline std::int64_t pack_two_rows(float* to, const float* even, const float* odd, std::int64_t k_count,
                                  std::int64_t ahead) {
  std::int64_t k = 0;
#if defined(__SSE2__)
  for (; k + 16 <= k_count; k += 16) {
    __builtin_prefetch(even + k + ahead, 0, 3);
    __builtin_prefetch(odd + k + ahead, 0, 3);
#pragma GCC unroll 4
    for (std::int64_t i = k; i < k + 16; i += 4) {
      const __m128 a = _mm_loadu_ps(even + i), b = _mm_loadu_ps(odd + i);
      const __m128 first = _mm_unpacklo_ps(a, b), second = _mm_unpackhi_ps(a, b);
      float* at = to + i * width;
      _mm_storel_pi(reinterpret_cast<__m64*>(at), first);
      _mm_storeh_pi(reinterpret_cast<__m64*>(at + width), first);
      _mm_storel_pi(reinterpret_cast<__m64*>(at + 2 * width), second);
      _mm_storeh_pi(reinterpret_cast<__m64*>(at + 3 * width), second);
    }
  }
#else
  static_cast<void>(to), static_cast<void>(even), static_cast<void>(odd), static_cast<void>(k_count);
  static_cast<void>(ahead);
#endif
  return k;
}

// out [tile][k_count][width] <- rows of a, at most `width` side by side; k from first_k on.
template <int width>
requires(width % 2 == 0) inline void pack_tiles_along(float* out, const ProductJob& job, std::int64_t first_row,
                                                      std::int64_t rows, std::int64_t first_k, std::int64_t k_count) {
  const TileCut cut(rows, width);
  for (std::int64_t tile = 0; tile < cut.tiles; ++tile) {
    for (std::int64_t row = cut.begin(tile); row < cut.begin(tile + 1); row += 2) {
      const float* even = job.a + (first_row + row) * job.a_row_stride + first_k * job.a_k_stride;
      // A last row alone goes twice; nobody reads the second.
      const float* odd = row + 1 < cut.begin(tile + 1) ? even + job.a_row_stride : even;
      float* to = out + tile * width * k_count + row - cut.begin(tile);
      std::int64_t k = job.a_k_stride == 1 ? pack_two_rows<width>(to, even, odd, k_count, 2 * job.a_row_stride) : 0;
      for (; k < k_count; ++k) {
        to[k * width] = even[k * job.a_k_stride];
        to[k * width + 1] = odd[k * job.a_k_stride];
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
  const TileCut cut(rows, width);
  const float* a = job.a + first_row;
  for (std::int64_t begin = 0; begin < k_count; begin += kTogether) {
    const std::int64_t end = begin + kTogether < k_count ? begin + kTogether : k_count;
    for (std::int64_t k = first_k + begin + kTogether; k < first_k + end + kTogether && k < job.inputs; ++k) {
      for (std::int64_t r = 0; r < rows; r += kLanes) __builtin_prefetch(a + k * job.a_k_stride + r, 0, 2);
    }
    for (std::int64_t tile = 0; tile < cut.tiles; ++tile) {
      const std::int64_t row = cut.begin(tile);
      float* to = out + (tile * k_count + begin) * width;
      const float* from = a + (first_k + begin) * job.a_k_stride + row;
      // A lower tile takes the next one's first row along, which nobody reads; the last one may not.
      if (row + width <= rows) {
        for (std::int64_t k = begin; k < end; ++k, to += width, from += job.a_k_stride) {
          __builtin_memcpy(to, from, width * sizeof(float));
        }
      } else {
        for (std::int64_t k = begin; k < end; ++k, to += width, from += job.a_k_stride) {
          for (std::int64_t r = 0; r < rows - row; ++r) to[r] = from[r];
        }
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
    if (width == kLanes) {
      for (std::int64_t k = 0; k < job.columns; ++k) {
#pragma GCC unroll 16
        for (int j = 0; j < kLanes; ++j) out[k * kLanes + j] = in[j * job.columns + k];
      }
      continue;
    }
    for (std::int64_t k = 0; k < job.columns; ++k) {
      for (std::int64_t j = 0; j < kLanes; ++j) out[k * kLanes + j] = j < width ? in[j * job.columns + k] : 0.0f;
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
    constexpr std::int64_t kAhead = 16;  // rows; each read is in another page
    for (std::int64_t k = 0; k < job.rows; ++k) {
      __builtin_prefetch(in + (k + kAhead) * job.columns, 0, 3);
      store(out + k * kLanes, load_masked(in + k * job.columns, width, 0.0f));
    }
  }
}

}  // namespace maxplus::host::MAXPLUS_SIMD
