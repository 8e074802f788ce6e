#pragma once
// A tile of rows x 16 outputs, each one fused multiply-add chain over k ascending: the innermost body of matrix
// products and of attention. Cutting k into calls (Chain::go_on) gives the same bits as one call.

#include <cstdint>

#include "kokkos/simd/lanes.hpp"

namespace maxplus::host::MAXPLUS_SIMD {

enum class Chain : std::uint8_t { from_zero, go_on };

// The most rows of one tile: as many as the registers hold.
#if defined(MAXPLUS_SIMD_avx512)
inline constexpr int kTileRows = 12;
#else
inline constexpr int kTileRows = 6;
#endif

// c[r][0..15] = chain over k of a[r * row_stride_a + k * k_stride_a] * b[k * k_stride_b + 0..15]; c's rows are
// row_stride_c apart. All sixteen columns of b and c are read and written.
template <int rows>
MAXPLUS_LANE void tile_product(const float* a, std::int64_t row_stride_a, std::int64_t k_stride_a, const float* b,
                               std::int64_t k_stride_b, float* c, std::int64_t row_stride_c, std::int64_t k_count,
                               Chain chain) {
  Lanes acc[rows];
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r) acc[r] = chain == Chain::go_on ? load(c + r * row_stride_c) : broadcast(0.0f);
#pragma GCC unroll 2
  for (std::int64_t k = 0; k < k_count; ++k) {
    const Lanes column = load(b + k * k_stride_b);
    const float* a_k = a + k * k_stride_a;
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r) acc[r] = fma(broadcast(a_k[r * row_stride_a]), column, acc[r]);
  }
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r) store(c + r * row_stride_c, acc[r]);
}

// The same for a number of rows that is known at run time, 1 to kTileRows.
template <int rows = kTileRows>
inline void tile_product_rows(int row_count, const float* a, std::int64_t row_stride_a, std::int64_t k_stride_a,
                              const float* b, std::int64_t k_stride_b, float* c, std::int64_t row_stride_c,
                              std::int64_t k_count, Chain chain) {
  if constexpr (rows > 1) {
    if (row_count < rows) {
      tile_product_rows<rows - 1>(row_count, a, row_stride_a, k_stride_a, b, k_stride_b, c, row_stride_c, k_count,
                                  chain);
      return;
    }
  }
  tile_product<rows>(a, row_stride_a, k_stride_a, b, k_stride_b, c, row_stride_c, k_count, chain);
}

}  // namespace maxplus::host::MAXPLUS_SIMD
