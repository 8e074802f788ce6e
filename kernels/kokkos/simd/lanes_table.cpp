#include "kokkos/simd/lanes_table.hpp"

#include "kokkos/simd/lanes.hpp"
#include "kokkos/simd/tile.hpp"

namespace maxplus::host::MAXPLUS_SIMD {

namespace {

void table_load_masked(float* out, const float* in, int count, float fill) { store(out, load_masked(in, count, fill)); }
void table_store_masked(float* out, const float* in, int count) { store_masked(out, load(in), count); }
void table_select(float* out, int count, const float* a, const float* b) {
  store(out, select(count, load(a), load(b)));
}
void table_add(float* out, const float* a, const float* b) { store(out, load(a) + load(b)); }
void table_subtract(float* out, const float* a, const float* b) { store(out, load(a) - load(b)); }
void table_multiply(float* out, const float* a, const float* b) { store(out, load(a) * load(b)); }
void table_divide(float* out, const float* a, const float* b) { store(out, div(load(a), load(b))); }
void table_fma(float* out, const float* a, const float* b, const float* c) {
  store(out, fma(load(a), load(b), load(c)));
}
void table_max(float* out, const float* a, const float* b) { store(out, max(load(a), load(b))); }
void table_min(float* out, const float* a, const float* b) { store(out, min(load(a), load(b))); }
void table_sqrt(float* out, const float* a) { store(out, sqrt(load(a))); }
void table_exp(float* out, const float* a) { store(out, exp(load(a))); }
void table_tanh(float* out, const float* a) { store(out, tanh(load(a))); }
void table_round_bf16(float* out, const float* a) { store(out, round_bf16(load(a))); }
float table_sum(const float* a) { return sum(load(a)); }
float table_max_lane(const float* a) { return max_lane(load(a)); }
float table_exp1(float x) { return exp1(x); }
float table_log1(float x) { return log1_(x); }
void table_tile(int rows, const float* a, std::int64_t row_stride_a, std::int64_t k_stride_a, const float* b,
                std::int64_t k_stride_b, float* c, std::int64_t row_stride_c, std::int64_t k_count, bool go_on) {
  tile_product_rows(rows, a, row_stride_a, k_stride_a, b, k_stride_b, c, row_stride_c, k_count,
                    go_on ? Chain::go_on : Chain::from_zero);
}

constexpr LanesTable kTable = {table_load_masked, table_store_masked, table_select, table_add,        table_subtract,
                               table_multiply,    table_divide,       table_fma,    table_max,        table_min,
                               table_sqrt,        table_exp,          table_tanh,   table_round_bf16, table_sum,
                               table_max_lane,    table_exp1,         table_log1,   table_tile};

}  // namespace

const LanesTable& lanes_table() { return kTable; }

}  // namespace maxplus::host::MAXPLUS_SIMD
