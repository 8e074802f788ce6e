// Small helpers over any number of elements, cut over the team in runs of whole blocks.

#include "ops/elementwise.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "kokkos/kernel_table.hpp"
#include "kokkos/region.hpp"
#include "kokkos/simd/elementwise_table.hpp"
#include "kokkos/team.hpp"
#include "ops/checks.hpp"

namespace maxplus::ops {

namespace {

constexpr std::int64_t kBlock = 4096;  // elements; a shorter run is not worth a second thread

// body(first, count, thread) over runs of blocks.
template <class F>
void for_each_piece(const Stream& stream, std::int64_t elements, F&& body) {
  host::for_each_range(stream, (elements + kBlock - 1) / kBlock,
                       [&](std::int64_t first, std::int64_t last, int thread) {
                         body(first * kBlock, std::min(last * kBlock, elements) - first * kBlock, thread);
                       });
}

const host::ElementwiseTable& table() { return MAXPLUS_TABLE(elementwise_table); }

std::uint16_t* bf16_data(const char* what, const TensorView& view, std::int64_t size) {
  check_size(what, view, DType::bf16, size);
  return static_cast<std::uint16_t*>(view.data());
}

void copy_bytes(const Stream& stream, void* out, const void* in, std::size_t bytes) {
  for_each_piece(stream, static_cast<std::int64_t>(bytes), [&](std::int64_t first, std::int64_t count, int) {
    std::memcpy(static_cast<char*>(out) + first, static_cast<const char*>(in) + first, static_cast<std::size_t>(count));
  });
}

}  // namespace

void fill(const Stream& stream, TensorView out, float value) {
  const host::Region region("fill");
  float* to = out.as<float>();
  for_each_piece(stream, out.size(),
                 [&](std::int64_t first, std::int64_t count, int) { table().fill(to + first, value, count); });
}

void copy(const Stream& stream, TensorView out, TensorView in) {
  const host::Region region("copy");
  MAXPLUS_REQUIRE(out.dtype() == in.dtype() && out.size() == in.size(), describe(in) + " to " + describe(out));
  copy_bytes(stream, out.data(), in.data(), in.bytes());
}

void add(const Stream& stream, TensorView out, TensorView a, TensorView b) {
  const host::Region region("add");
  MAXPLUS_REQUIRE(out.size() == a.size() && out.size() == b.size(),
                  describe(a) + " + " + describe(b) + " to " + describe(out));
  float* to = out.as<float>();
  const float* left = a.as<float>();
  const float* right = b.as<float>();
  for_each_piece(stream, out.size(), [&](std::int64_t first, std::int64_t count, int) {
    table().add(to + first, left + first, right + first, count);
  });
}

void scale(const Stream& stream, TensorView out, TensorView in, float factor) {
  const host::Region region("scale");
  MAXPLUS_REQUIRE(out.size() == in.size(), describe(in) + " to " + describe(out));
  float* to = out.as<float>();
  const float* from = in.as<float>();
  for_each_piece(stream, out.size(), [&](std::int64_t first, std::int64_t count, int) {
    table().scale(to + first, from + first, factor, count);
  });
}

void to_bf16(const Stream& stream, TensorView out_bf16, TensorView in) {
  std::uint16_t* to = bf16_data("out_bf16", out_bf16, in.size());
  const float* from = in.as<float>();
  for_each_piece(stream, in.size(), [&](std::int64_t first, std::int64_t count, int) {
    table().to_bf16(to + first, from + first, count);
  });
}

void from_bf16(const Stream& stream, TensorView out, TensorView in_bf16) {
  const std::uint16_t* from = bf16_data("in_bf16", in_bf16, out.size());
  float* to = out.as<float>();
  for_each_piece(stream, out.size(), [&](std::int64_t first, std::int64_t count, int) {
    table().from_bf16(to + first, from + first, count);
  });
}

std::int64_t count_not_finite(const Stream& stream, TensorView values) {
  const float* from = values.as<float>();
  std::vector<std::int64_t> found(static_cast<std::size_t>(stream.threads()), 0);
  for_each_piece(stream, values.size(), [&](std::int64_t first, std::int64_t count, int thread) {
    found[static_cast<std::size_t>(thread)] = table().count_not_finite(from + first, count);
  });
  std::int64_t total = 0;
  for (const std::int64_t part : found) total += part;
  return total;
}

void copy_to_device(const Stream& stream, TensorView out, const void* host) {
  copy_bytes(stream, out.data(), host, out.bytes());
}

void copy_to_host(const Stream& stream, void* host, TensorView in) { copy_bytes(stream, host, in.data(), in.bytes()); }

}  // namespace maxplus::ops
