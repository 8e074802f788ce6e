// Blocks of 8 bits, cut over the team by blocks. Not in simd/: it is run once a layer and forward, and takes less time
// than packing what it gives.
#include "ops/quantized.hpp"

#include <algorithm>
#include <cmath>

#include "kokkos/region.hpp"
#include "kokkos/team.hpp"
#include "ops/checks.hpp"

namespace maxplus::ops {

namespace {

constexpr float kLargest = 127.0f;

struct Blocks {
  std::int8_t* values;
  float* scale;
};

Blocks blocks_of(TensorView values_u8, TensorView scale, std::int64_t elements) {
  check_size("values", values_u8, DType::u8, elements);
  check_size("scale", scale, DType::f32, quantized_blocks(elements));
  return {static_cast<std::int8_t*>(values_u8.data()), static_cast<float*>(scale.data())};
}

// body(block, first element, number of elements).
template <class F>
void for_each_block(const Stream& stream, std::int64_t elements, const F& body) {
  host::for_each_range(stream, quantized_blocks(elements), [&](std::int64_t first, std::int64_t last, int) {
    for (std::int64_t b = first; b < last; ++b)
      body(b, b * kQuantizedBlock, std::min(kQuantizedBlock, elements - b * kQuantizedBlock));
  });
}

}  // namespace

void quantize(const Stream& stream, TensorView out_u8, TensorView out_scale, TensorView in) {
  const host::Region region("quantize");
  const Blocks out = blocks_of(out_u8, out_scale, in.size());
  const float* from = in.as<float>();
  for_each_block(stream, in.size(), [&](std::int64_t block, std::int64_t first, std::int64_t count) {
    float largest = 0;
    for (std::int64_t i = first; i < first + count; ++i) largest = std::max(largest, std::abs(from[i]));
    const float scale = largest / kLargest, inverse = scale > 0 ? 1 / scale : 0.0f;
    out.scale[block] = scale;
    for (std::int64_t i = first; i < first + count; ++i) {
      const float q = std::round(from[i] * inverse);
      out.values[i] = static_cast<std::int8_t>(std::clamp(q, -kLargest, kLargest));
    }
  });
}

void dequantize(const Stream& stream, TensorView out, TensorView in_u8, TensorView scale) {
  const host::Region region("dequantize");
  const Blocks in = blocks_of(in_u8, scale, out.size());
  float* to = out.as<float>();
  for_each_block(stream, out.size(), [&](std::int64_t block, std::int64_t first, std::int64_t count) {
    const float by = in.scale[block];
    for (std::int64_t i = first; i < first + count; ++i) to[i] = by * static_cast<float>(in.values[i]);
  });
}

}  // namespace maxplus::ops
