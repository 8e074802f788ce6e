// Matrix products of fp32: one chain of fused multiply-adds an output.

#include "kokkos/simd/product_body.hpp"

namespace maxplus::host::MAXPLUS_SIMD {

namespace {

struct F32Engine {
  static constexpr int kRowWords = 1;
  static constexpr bool kRowsAsTheyAre = true;
  using Column = Lanes;
  using Row = Lanes;

  static std::int64_t units(std::int64_t inputs) { return inputs; }
  static std::int64_t stored_units(std::int64_t inputs) { return inputs; }
  MAXPLUS_LANE static Column column(const float* unit, int) { return load(unit); }
  MAXPLUS_LANE static Row row(float word) { return broadcast(word); }
  MAXPLUS_LANE static Lanes step(Lanes acc, Row row, Column column) { return fma(row, column, acc); }
  static void pack_tiles(float* out, const ProductJob& job, std::int64_t first_row, std::int64_t rows,
                         std::int64_t first_k, std::int64_t k_count) {
    if (job.a_row_stride == 1) {
      pack_tiles_across<kTileRows>(out, job, first_row, rows, first_k, k_count);
    } else {
      pack_tiles_along<kTileRows>(out, job, first_row, rows, first_k, k_count);
    }
  }
};

constexpr MatmulTable kTable = {
    kFewRows, kTileRows, ProductBody<F32Engine>::block_rows, ProductBody<F32Engine>::product, pack_rows, pack_columns};

}  // namespace

const MatmulTable& matmul_table() { return kTable; }

}  // namespace maxplus::host::MAXPLUS_SIMD
