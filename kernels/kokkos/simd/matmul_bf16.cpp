// Matrix products of bf16 by chains of fp32: the bits of the dot-product instruction on processors without it. Weights
// are read as bf16, which is half the bytes, and widened by a mask or a shift.

#include "kokkos/simd/bf16_words.hpp"
#include "kokkos/simd/product_body.hpp"

namespace maxplus::host::MAXPLUS_SIMD {

namespace {

struct ChainEngine {
  static constexpr int kRowWords = TwoFloats::kWords;
  static constexpr bool kRowsAsTheyAre = false;
  using Column = Lanes;
  using Row = Lanes;

  static std::int64_t units(std::int64_t inputs) { return (inputs + 1) / 2; }
  static std::int64_t stored_units(std::int64_t inputs) { return bf16_units(inputs); }
  MAXPLUS_LANE static Column column(const float* unit, int word) {
    return word == 0 ? high_bf16(load(unit)) : low_bf16(load(unit));
  }
  MAXPLUS_LANE static Row row(float word) { return broadcast(word); }
  MAXPLUS_LANE static Lanes step(Lanes acc, Row row, Column column) { return fma(row, column, acc); }
  static void pack_row(float* out, const ProductJob& job, std::int64_t row, std::int64_t first_unit,
                       std::int64_t units) {
    words_along<TwoFloats>(out, job, row, first_unit, units);
  }
  static void pack_tiles(float* out, const ProductJob& job, std::int64_t first_row, std::int64_t rows,
                         std::int64_t first_unit, std::int64_t units) {
    Bf16Tiles<TwoFloats, kTileRows>::pack(out, job, first_row, rows, first_unit, units);
  }
};

constexpr MatmulTable kTable = {
    kFewRows,       kTileRows,        ProductBody<ChainEngine>::block_rows, ProductBody<ChainEngine>::product,
    pack_rows_bf16, pack_columns_bf16};

}  // namespace

const MatmulTable& matmul_bf16_table() { return kTable; }

}  // namespace maxplus::host::MAXPLUS_SIMD
