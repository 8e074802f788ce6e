// Biases on the host: rows are cut over the team; the gradient, a sum over rows, is cut by columns.
#include "ops/bias.hpp"

#include <algorithm>

#include "kokkos/kernel_table.hpp"
#include "kokkos/region.hpp"
#include "kokkos/simd/elementwise_table.hpp"
#include "kokkos/team.hpp"
#include "ops/checks.hpp"

namespace maxplus::ops {

namespace {

constexpr std::int64_t kColumns = 64;  // of a part: whole cache lines

}  // namespace

void add_bias(const Stream& stream, TensorView values, TensorView bias) {
  const host::Region region("maxplus.add_bias");
  const std::int64_t rows = values.extent(0), columns = values.extent(1);
  check_view("add_bias values", values, DType::f32, {rows, columns});
  check_view("add_bias bias", bias, DType::f32, {columns});
  const host::ElementwiseTable& table = MAXPLUS_TABLE(elementwise_table);
  float* const x = values.as<float>();
  const float* const b = bias.as<float>();
  host::for_each_part(stream, rows, [&](std::int64_t t) { table.add(x + t * columns, x + t * columns, b, columns); });
}

void bias_gradient(const Stream& stream, TensorView d_bias, TensorView d_values) {
  const host::Region region("maxplus.bias_gradient");
  const std::int64_t rows = d_values.extent(0), columns = d_values.extent(1);
  check_view("bias_gradient d_values", d_values, DType::f32, {rows, columns});
  check_view("bias_gradient d_bias", d_bias, DType::f32, {columns});
  const host::ElementwiseTable& table = MAXPLUS_TABLE(elementwise_table);
  float* const sums = d_bias.as<float>();
  const float* const d = d_values.as<float>();
  host::for_each_range(stream, (columns + kColumns - 1) / kColumns, [&](std::int64_t first, std::int64_t last, int) {
    const std::int64_t begin = first * kColumns, count = std::min(last * kColumns, columns) - begin;
    for (std::int64_t t = 0; t < rows; ++t) table.add(sums + begin, sums + begin, d + t * columns + begin, count);
  });
}

}  // namespace maxplus::ops
