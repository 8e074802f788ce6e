#pragma once
// bf16 operands of matrix products. A panel holds units of two summed indices: 16 words, each with index 2u in its low
// half and 2u + 1 in its high half. Rows come as words in one of two forms:
//   PairWord   one word a unit, as in a panel: what the dot-product instruction and the tiles read
//   TwoFloats  two words a unit, the odd index first, rounded but fp32: what chains of fp32 read

#include "kokkos/simd/bf16_lanes.hpp"
#include "kokkos/simd/lanes.hpp"
#include "kokkos/simd/matmul_table.hpp"
#include "kokkos/simd/pack.hpp"

namespace maxplus::host::MAXPLUS_SIMD {

MAXPLUS_LANE float pair_word(float even, float odd) {
  return from_bits1((bits1(round_bf16_1(even)) >> 16) | bits1(round_bf16_1(odd)));
}

struct PairWord {
  static constexpr int kWords = 1;
  MAXPLUS_LANE static void put(float* at, std::int64_t, float even, float odd) { *at = pair_word(even, odd); }
};

struct TwoFloats {
  static constexpr int kWords = 2;
  MAXPLUS_LANE static void put(float* at, std::int64_t word_stride, float even, float odd) {
    at[0] = round_bf16_1(odd);
    at[word_stride] = round_bf16_1(even);
  }
};

// Units [first_unit, first_unit + units) of a row whose k lie side by side: out [unit][word]. Beyond the inputs: zero.
template <class Form>
inline void words_along(float* out, const ProductJob& job, std::int64_t row, std::int64_t first_unit,
                        std::int64_t units) {
  const float* in = job.a + row * job.a_row_stride + 2 * first_unit;
  const std::int64_t left = job.inputs - 2 * first_unit, whole = left / 2 < units ? left / 2 : units;
  for (std::int64_t u = 0; u < whole; ++u) Form::put(out + u * Form::kWords, 1, in[2 * u], in[2 * u + 1]);
  for (std::int64_t u = whole; u < units; ++u) {
    Form::put(out + u * Form::kWords, 1, 2 * u < left ? in[2 * u] : 0.0f, 0.0f);
  }
}

// One unit of `rows` rows that lie side by side: out [word][word_stride].
template <class Form>
inline void words_across(float* out, std::int64_t word_stride, const ProductJob& job, std::int64_t first_row,
                         std::int64_t rows, std::int64_t unit) {
  const float* even = job.a + first_row + 2 * unit * job.a_k_stride;
  if (2 * unit + 1 < job.inputs) {
    const float* odd = even + job.a_k_stride;
    for (std::int64_t r = 0; r < rows; ++r) Form::put(out + r, word_stride, even[r], odd[r]);
  } else {
    const bool inside = 2 * unit < job.inputs;
    for (std::int64_t r = 0; r < rows; ++r) Form::put(out + r, word_stride, inside ? even[r] : 0.0f, 0.0f);
  }
}

// out [tile][unit][word][width]. A block has at most kMostBlockRows rows, a piece at most kMostPieceUnits units.
template <class Form, int width>
struct Bf16Tiles {
  static constexpr std::int64_t kMostBlockRows = 1024, kMostPieceUnits = 1024;

  static void pack(float* out, const ProductJob& job, std::int64_t first_row, std::int64_t rows,
                   std::int64_t first_unit, std::int64_t units) {
    if (job.a_k_stride == 1) {
      along(out, job, first_row, rows, first_unit, units);
    } else {
      across(out, job, first_row, rows, first_unit, units);
    }
  }

 private:
  static void along(float* out, const ProductJob& job, std::int64_t first_row, std::int64_t rows,
                    std::int64_t first_unit, std::int64_t units) {
    float words[kMostPieceUnits * Form::kWords];
    const TileCut cut(rows, width);
    for (std::int64_t tile = 0; tile < cut.tiles; ++tile) {
      for (std::int64_t row = cut.begin(tile); row < cut.begin(tile + 1); ++row) {
        words_along<Form>(words, job, first_row + row, first_unit, units);
        float* to = out + tile * width * units * Form::kWords + row - cut.begin(tile);
        for (std::int64_t w = 0; w < units * Form::kWords; ++w) to[w * width] = words[w];
      }
    }
  }

  static void across(float* out, const ProductJob& job, std::int64_t first_row, std::int64_t rows,
                     std::int64_t first_unit, std::int64_t units) {
    constexpr std::int64_t kTogether = 4;  // units, so that a line of each tile is written whole
    float words[kTogether][Form::kWords][kMostBlockRows + width];
    // A lower tile takes what follows it along, which nobody reads.
    for (auto& unit : words) {
      for (auto& word : unit) __builtin_memset(word + rows, 0, width * sizeof(float));
    }
    const TileCut cut(rows, width);
    for (std::int64_t begin = 0; begin < units; begin += kTogether) {
      const std::int64_t end = begin + kTogether < units ? begin + kTogether : units;
      for (std::int64_t u = begin; u < end; ++u) {
        words_across<Form>(words[u - begin][0], kMostBlockRows + width, job, first_row, rows, first_unit + u);
      }
      for (std::int64_t tile = 0; tile < cut.tiles; ++tile) {
        float* to = out + (tile * units + begin) * Form::kWords * width;
        for (std::int64_t u = begin; u < end; ++u) {
          for (int w = 0; w < Form::kWords; ++w, to += width) {
            __builtin_memcpy(to, words[u - begin][w] + cut.begin(tile), width * sizeof(float));
          }
        }
      }
    }
  }
};

// Sixteen rows of the matrix become the columns of a panel; missing ones are zero.
inline void pack_rows_bf16(const PackJob& job) {
  constexpr std::int64_t kTogether = 64;
  const std::int64_t units = bf16_units(job.columns);
  float words[kLanes][kTogether];
  for (std::int64_t panel = job.first_panel; panel < job.last_panel; ++panel) {
    float* out = job.panels + panel * units * kLanes;
    const ProductJob rows{job.matrix, job.columns, 1, nullptr, job.columns, 0, nullptr, 0, Start::from_zero, nullptr};
    for (std::int64_t begin = 0; begin < units; begin += kTogether) {
      const std::int64_t count = units - begin < kTogether ? units - begin : kTogether;
      for (std::int64_t j = 0; j < kLanes; ++j) {
        const std::int64_t row = panel * kLanes + j;
        if (row < job.rows) {
          words_along<PairWord>(words[j], rows, row, begin, count);
        } else {
          for (std::int64_t u = 0; u < count; ++u) words[j][u] = 0.0f;
        }
      }
      for (std::int64_t u = 0; u < count; ++u) {
#pragma GCC unroll 16
        for (int j = 0; j < kLanes; ++j) out[(begin + u) * kLanes + j] = words[j][u];
      }
    }
  }
}

// Sixteen columns of the matrix, two rows a unit.
inline void pack_columns_bf16(const PackJob& job) {
  const std::int64_t units = bf16_units(job.rows);
  const ProductJob across{job.matrix, 1, job.columns, nullptr, job.rows, 0, nullptr, 0, Start::from_zero, nullptr};
  for (std::int64_t panel = job.first_panel; panel < job.last_panel; ++panel) {
    float* out = job.panels + panel * units * kLanes;
    const std::int64_t left = job.columns - panel * kLanes;
    const std::int64_t width = left < kLanes ? left : kLanes;
    for (std::int64_t unit = 0; unit < units; ++unit) {
      words_across<PairWord>(out + unit * kLanes, 0, across, panel * kLanes, width, unit);
      for (std::int64_t j = width; j < kLanes; ++j) out[unit * kLanes + j] = 0.0f;
    }
  }
}

}  // namespace maxplus::host::MAXPLUS_SIMD
