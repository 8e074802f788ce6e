// Row lookups and their gradients on the host. Lookups are cut by tokens; sums into shared rows are cut by channels, so
// that every thread goes through all tokens in order.
#include "ops/embedding.hpp"

#include <algorithm>
#include <cstring>

#include "kokkos/region.hpp"
#include "kokkos/team.hpp"
#include "ops/checks.hpp"

namespace maxplus::ops {

namespace {

constexpr std::int64_t kChannelBlock = 16;  // a cache line, so that threads share none

void check_index(const char* what, TensorView index, std::int64_t count, std::int64_t below) {
  check_view(what, index, DType::i32, {count});
  const std::int32_t* const i = index.as<std::int32_t>();
  for (std::int64_t n = 0; n < count; ++n) {
    MAXPLUS_REQUIRE(i[n] >= 0 && i[n] < below,
                    fmt::format("{}: entry {} is {}, expected 0 to {}", what, n, i[n], below - 1));
  }
}

// out row i = table row index[i].
void take(const Stream& stream, const char* what, TensorView out, TensorView table, TensorView index) {
  const std::int64_t count = out.extent(0), channels = out.extent(1);
  check_view(what, out, DType::f32, {count, channels});
  check_view(what, table, DType::f32, {table.extent(0), channels});
  check_index(what, index, count, table.extent(0));
  float* const o = out.as<float>();
  const float* const rows = table.as<float>();
  const std::int32_t* const i = index.as<std::int32_t>();
  if (channels == 0) return;
  host::for_each_part(stream, count, [&](std::int64_t n) {
    std::memcpy(o + n * channels, rows + i[n] * channels, static_cast<std::size_t>(channels) * sizeof(float));
  });
}

enum class Before { keep, zero };

// table row index[i] += in row i, i ascending.
void add(const Stream& stream, const char* what, TensorView table, TensorView in, TensorView index, Before before) {
  const std::int64_t count = in.extent(0), channels = in.extent(1), rows = table.extent(0);
  check_view(what, in, DType::f32, {count, channels});
  check_view(what, table, DType::f32, {rows, channels});
  check_index(what, index, count, rows);
  float* const sums = table.as<float>();
  const float* const x = in.as<float>();
  const std::int32_t* const i = index.as<std::int32_t>();
  host::for_each_range(
      stream, (channels + kChannelBlock - 1) / kChannelBlock, [&](std::int64_t first, std::int64_t last, int) {
        const std::int64_t begin = first * kChannelBlock, width = std::min(last * kChannelBlock, channels) - begin;
        if (before == Before::zero) {
          for (std::int64_t r = 0; r < rows; ++r) std::fill_n(sums + r * channels + begin, width, 0.0f);
        }
        for (std::int64_t n = 0; n < count; ++n) {
          float* const to = sums + i[n] * channels + begin;
          const float* const from = x + n * channels + begin;
          for (std::int64_t c = 0; c < width; ++c) to[c] += from[c];
        }
      });
}

}  // namespace

void embedding(const Stream& stream, TensorView out, TensorView table, TensorView token) {
  const host::Region region("maxplus.embedding");
  take(stream, "embedding", out, table, token);
}

void embedding_backward(const Stream& stream, TensorView d_table, TensorView d_out, TensorView token) {
  const host::Region region("maxplus.embedding_backward");
  add(stream, "embedding_backward", d_table, d_out, token, Before::keep);
}

void gather_rows(const Stream& stream, TensorView out, TensorView in, TensorView row) {
  const host::Region region("maxplus.gather_rows");
  take(stream, "gather_rows", out, in, row);
}

void scatter_rows(const Stream& stream, TensorView out, TensorView in, TensorView row) {
  const host::Region region("maxplus.scatter_rows");
  add(stream, "scatter_rows", out, in, row, Before::zero);
}

}  // namespace maxplus::ops
