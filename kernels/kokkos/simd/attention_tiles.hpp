#pragma once
// Tiles of the attention forward: rows x (16 * width) outputs, every one a chain of its own, so the shape of a tile
// never shows in the bits. Few rows (decoding) take wider tiles, because one chain alone waits for its own latency.

#include <cstdint>

#include "kokkos/simd/attention_table.hpp"
#include "kokkos/simd/lanes.hpp"
#include "kokkos/simd/tile.hpp"

namespace maxplus::host::MAXPLUS_SIMD {

// score[r][16 w + lane] = scale * (chain over d of query[r][d] * page[w][d][lane]); query rows are `query_stride`
// apart, score rows kAttentionKeyBlock. `ahead` are pages that will be read soon: they are fetched line by line on the
// way (a page is where the processor's own prefetching ends).
template <int rows, int width>
MAXPLUS_LANE void score_tile(const float* query, std::int64_t query_stride, const float* const* page,
                             const float* const* ahead, float* score, std::int64_t depth, Lanes scale) {
  Lanes acc[rows][width];
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 4
    for (int w = 0; w < width; ++w) acc[r][w] = broadcast(0.0f);
  }
#pragma GCC unroll 2
  for (std::int64_t d = 0; d < depth; ++d) {
    Lanes q[rows];
    if constexpr (width > 1) {
#pragma GCC unroll 16
      for (int r = 0; r < rows; ++r) q[r] = broadcast(query[r * query_stride + d]);
    }
#pragma GCC unroll 4
    for (int w = 0; w < width; ++w) {
      const Lanes key = load(page[w] + d * kLanes);
      __builtin_prefetch(ahead[w] + d * kLanes, 0, 2);
#pragma GCC unroll 16
      for (int r = 0; r < rows; ++r) {
        acc[r][w] = fma(width > 1 ? q[r] : broadcast(query[r * query_stride + d]), key, acc[r][w]);
      }
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 4
    for (int w = 0; w < width; ++w) store(score + r * kAttentionKeyBlock + w * kLanes, acc[r][w] * scale);
  }
}

// out[r][16 w + lane] = factor[r] * out[r][..], then its chain goes on over keys begin <= j < end of a block:
// probability[r][j] * value(j)[16 w + lane]. page[p] points to the values of keys 16 p at column 0 of the tile; a key's
// row is `depth` long. `last` lanes of the last column group exist (16: all).
template <int rows, int width>
MAXPLUS_LANE void value_tile(const float* probability, const float* const* page, const float* const* ahead,
                             std::int64_t column, std::int64_t depth, const float* factor, float* out,
                             std::int64_t out_stride, std::int64_t begin, std::int64_t end, int last) {
  Lanes acc[rows][width];
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 4
    for (int w = 0; w < width; ++w) acc[r][w] = load(out + r * out_stride + w * kLanes) * broadcast(factor[r]);
  }
  for (std::int64_t j = begin; j < end;) {
    const std::int64_t at = (j % kAttentionPage) * depth + column;
    const float *value = page[j / kAttentionPage] + at, *soon = ahead[j / kAttentionPage] + at;
    const std::int64_t next = (j / kAttentionPage + 1) * kAttentionPage, stop = next < end ? next : end;
    for (; j < stop; ++j, value += depth, soon += depth) {
#pragma GCC unroll 4
      for (int w = 0; w < width; ++w) {
        const Lanes v =
            w + 1 < width || last == kLanes ? load(value + w * kLanes) : load_part(value + w * kLanes, last, 0.0f);
        __builtin_prefetch(soon + w * kLanes, 0, 2);
#pragma GCC unroll 16
        for (int r = 0; r < rows; ++r)
          acc[r][w] = fma(broadcast(probability[r * kAttentionKeyBlock + j]), v, acc[r][w]);
      }
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 4
    for (int w = 0; w < width; ++w) store(out + r * out_stride + w * kLanes, acc[r][w]);
  }
}

// Column groups side by side in one tile of so many rows.
template <int rows>
constexpr int tile_width() {
#if defined(MAXPLUS_SIMD_avx512)
  return rows <= 4 ? 4 : rows <= 8 ? 2 : 1;
#else
  return rows == 1 ? 4 : rows <= 3 ? 2 : 1;
#endif
}

// All scores of `pages` pages.
template <int rows>
inline void scores(const float* query, std::int64_t query_stride, const float* const* page, const float* const* ahead,
                   int pages, float* score, std::int64_t depth, float scale) {
  constexpr int width = tile_width<rows>();
  const Lanes factor = broadcast(scale);
  int p = 0;
  for (; p + width <= pages; p += width) {
    score_tile<rows, width>(query, query_stride, page + p, ahead + p, score + p * kLanes, depth, factor);
  }
  if constexpr (width > 1) {
    for (; p < pages; ++p)
      score_tile<rows, 1>(query, query_stride, page + p, ahead + p, score + p * kLanes, depth, factor);
  }
}

// Columns [first, last) of the outputs, `first` a multiple of 16, `last` too or D.
template <int rows>
inline void values(const float* probability, const float* const* page, const float* const* ahead, std::int64_t first,
                   std::int64_t last, std::int64_t depth, const float* factor, float* out, std::int64_t out_stride,
                   std::int64_t begin, std::int64_t end) {
  constexpr int width = tile_width<rows>();
  std::int64_t d = first;
  for (; d + width * kLanes <= last; d += width * kLanes) {
    value_tile<rows, width>(probability, page, ahead, d, depth, factor, out + d, out_stride, begin, end, kLanes);
  }
  if constexpr (width > 1) {
    for (; d + kLanes <= last; d += kLanes) {
      value_tile<rows, 1>(probability, page, ahead, d, depth, factor, out + d, out_stride, begin, end, kLanes);
    }
  }
  if (d < last) {
    value_tile<rows, 1>(probability, page, ahead, d, depth, factor, out + d, out_stride, begin, end,
                        static_cast<int>(last - d));
  }
}

// For a number of rows known at run time, 1 to kTileRows.
template <int rows = kTileRows>
inline void scores_of(int count, const float* query, std::int64_t query_stride, const float* const* page,
                      const float* const* ahead, int pages, float* score, std::int64_t depth, float scale) {
  if constexpr (rows > 1) {
    if (count < rows) return scores_of<rows - 1>(count, query, query_stride, page, ahead, pages, score, depth, scale);
  }
  scores<rows>(query, query_stride, page, ahead, pages, score, depth, scale);
}

template <int rows = kTileRows>
inline void values_of(int count, const float* probability, const float* const* page, const float* const* ahead,
                      std::int64_t first, std::int64_t last, std::int64_t depth, const float* factor, float* out,
                      std::int64_t out_stride, std::int64_t begin, std::int64_t end) {
  if constexpr (rows > 1) {
    if (count < rows) {
      return values_of<rows - 1>(count, probability, page, ahead, first, last, depth, factor, out, out_stride, begin,
                                 end);
    }
  }
  values<rows>(probability, page, ahead, first, last, depth, factor, out, out_stride, begin, end);
}

}  // namespace maxplus::host::MAXPLUS_SIMD
