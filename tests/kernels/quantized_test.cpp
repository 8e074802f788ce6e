// Blocks of 8 bits at odd sizes and on one to three threads, against plain loops.
#include "ops/quantized.hpp"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "reference/quantized.hpp"
#include "reference/random_values.hpp"

namespace maxplus {
namespace {

struct Kept {
  std::vector<std::uint8_t> values;
  std::vector<float> scale, back;
};

Kept kept(const Stream& stream, std::vector<float> x) {
  const auto n = static_cast<std::int64_t>(x.size());
  Kept k{std::vector<std::uint8_t>(x.size(), 77), reference::poisoned(ops::quantized_blocks(n)),
         reference::poisoned(n)};
  const TensorView values(k.values.data(), DType::u8, Space::host, {n});
  const TensorView scale(k.scale.data(), DType::f32, Space::host, {ops::quantized_blocks(n)});
  ops::quantize(stream, values, scale, TensorView(x.data(), DType::f32, Space::host, {n}));
  ops::dequantize(stream, TensorView(k.back.data(), DType::f32, Space::host, {n}), values, scale);
  return k;
}

TEST(Quantized, ComesBackAsPlainLoopsSay) {
  for (const int threads : {1, 2, 3}) {
    const Stream stream(threads, Stream::Waiting::sleep);
    for (const std::int64_t size : {1, 31, 32, 33, 4097}) {
      std::vector<float> x = reference::random_values(size, 3);
      if (size > 64) std::fill(x.begin() + 32, x.begin() + 64, 0.0f);
      EXPECT_EQ(kept(stream, x).back, reference::through_eight_bits(x)) << size << " on " << threads;
    }
  }
}

TEST(Quantized, NoNumberMovesByMoreThanHalfAStepOfItsBlock) {
  const Stream stream(1, Stream::Waiting::sleep);
  const std::vector<float> x = reference::random_values(1000, 5);
  const Kept k = kept(stream, x);
  for (std::size_t i = 0; i < x.size(); ++i)
    EXPECT_LE(std::abs(k.back[i] - x[i]), k.scale[i / 32] * 0.5f * (1 + 1e-4f)) << i;
}

}  // namespace
}  // namespace maxplus
