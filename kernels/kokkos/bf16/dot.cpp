// Matrix products of bf16 by the dot-product instruction: the body of fp32's products with another step. Compiled for
// AVX-512 BF16, and with its emulation.

#include "kokkos/bf16/bf16_table.hpp"
#include "kokkos/simd/bf16_words.hpp"
#include "kokkos/simd/product_body.hpp"
#if defined(MAXPLUS_SIMD_avx512)
#include "kokkos/bf16/dot_instruction.hpp"
#else
#include "kokkos/bf16/dot_emulated.hpp"
#endif

namespace maxplus::host::MAXPLUS_SIMD {

namespace {

struct DotEngine {
  static constexpr int kRowWords = PairWord::kWords;
  static constexpr bool kRowsAsTheyAre = false;
  using Column = DotPairs;
  using Row = DotPairs;

  static std::int64_t units(std::int64_t inputs) { return (inputs + 1) / 2; }
  static std::int64_t stored_units(std::int64_t inputs) { return bf16_units(inputs); }
  MAXPLUS_LANE static Column column(const float* unit, int) { return dot_column(unit); }
  MAXPLUS_LANE static Row row(float word) { return dot_row(word); }
  MAXPLUS_LANE static Lanes step(Lanes acc, Row row, Column column) { return dot_step(acc, row, column); }
  static void pack_row(float* out, const ProductJob& job, std::int64_t row, std::int64_t first_unit,
                       std::int64_t units) {
    words_along<PairWord>(out, job, row, first_unit, units);
  }
  static void pack_tiles(float* out, const ProductJob& job, std::int64_t first_row, std::int64_t rows,
                         std::int64_t first_unit, std::int64_t units) {
    Bf16Tiles<PairWord, kTileRows>::pack(out, job, first_row, rows, first_unit, units);
  }
};

constexpr int kProbedChains = 12;

float probe(std::int64_t rounds) {
  float words[kLanes];
  for (int l = 0; l < kLanes; ++l) words[l] = pair_word(0.5f, 0.25f + 0.001f * static_cast<float>(l));
  const DotPairs column = dot_column(words);
  const DotPairs row = dot_row(words[0]);
  Lanes chain[kProbedChains];
#pragma GCC unroll 12
  for (int i = 0; i < kProbedChains; ++i) chain[i] = broadcast(static_cast<float>(i));
  for (std::int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
    for (int i = 0; i < kProbedChains; ++i) chain[i] = dot_step(chain[i], row, column);
  }
  Lanes total = broadcast(0.0f);
#pragma GCC unroll 12
  for (int i = 0; i < kProbedChains; ++i) total = total + chain[i];
  return sum(total);
}

constexpr MatmulTable kTable = {
    kFewRows,       kTileRows,        ProductBody<DotEngine>::block_rows, ProductBody<DotEngine>::product,
    pack_rows_bf16, pack_columns_bf16};

}  // namespace

const MatmulTable& dot_table() { return kTable; }
PeakProbe dot_probe() { return {probe, kProbedChains * kLanes * 4}; }

}  // namespace maxplus::host::MAXPLUS_SIMD
