// Lookups are copies, and their gradients are sums in token order: all compared bit for bit with plain loops.
#include "ops/embedding.hpp"

#include <gtest/gtest.h>

#include "kernels/host_tensors.hpp"
#include "reference/embedding.hpp"

namespace maxplus {
namespace {

using test::poisoned;
using test::seeded;
using test::view_of;

constexpr double kTolerance = 3e-6;  // up to 40 float additions of values of order 1
constexpr std::int64_t kVocabulary = 5, kTokens = 37;

std::vector<std::int32_t> indices(std::int64_t count, std::int64_t below, std::uint64_t seed) {
  std::vector<std::int32_t> result;
  for (std::int64_t i = 0; i < count; ++i) {
    result.push_back(static_cast<std::int32_t>(
        uniform_below(static_cast<std::uint64_t>(below), seed, Purpose::test, static_cast<std::uint64_t>(i), 1)));
  }
  return result;
}

TEST(Embedding, TakesTheRowsOfItsTokens) {
  for (std::int64_t channels : {1, 17, 48, 99}) {
    for (std::int64_t tokens : {std::int64_t{0}, std::int64_t{1}, kTokens}) {
      const Stream stream(2, Stream::Waiting::sleep);
      std::vector<float> table = seeded(kVocabulary * channels, 1, 1);
      std::vector<std::int32_t> token = indices(tokens, kVocabulary, 2);
      const auto expected = reference::take_rows(test::to_double(table), token, static_cast<std::size_t>(channels));
      for (bool gather : {false, true}) {
        std::vector<float> out = poisoned(tokens * channels);
        (gather ? ops::gather_rows : ops::embedding)(stream, view_of(out, {tokens, channels}),
                                                     view_of(table, {kVocabulary, channels}), view_of(token, {tokens}));
        EXPECT_EQ(test::largest_error(out, expected), 0.0);
      }
    }
  }
}

TEST(Embedding, AddsGradientsToWhatIsThereInTokenOrder) {
  for (std::int64_t channels : {1, 17, 48, 99}) {
    std::vector<float> d_out = seeded(kTokens * channels, 3, 1);
    std::vector<std::int32_t> token = indices(kTokens, kVocabulary, 4);
    std::vector<float> in_order = seeded(kVocabulary * channels, 5, 1);
    std::vector<double> expected = test::to_double(in_order);
    reference::add_rows(expected, test::to_double(d_out), token, static_cast<std::size_t>(channels));
    for (std::int64_t t = 0; t < kTokens; ++t) {
      for (std::int64_t c = 0; c < channels; ++c) {
        in_order[static_cast<std::size_t>(token[static_cast<std::size_t>(t)] * channels + c)] +=
            d_out[static_cast<std::size_t>(t * channels + c)];
      }
    }
    for (int threads : {1, 2, 3}) {
      const Stream stream(threads, Stream::Waiting::sleep);
      std::vector<float> d_table = seeded(kVocabulary * channels, 5, 1);
      ops::embedding_backward(stream, view_of(d_table, {kVocabulary, channels}), view_of(d_out, {kTokens, channels}),
                              view_of(token, {kTokens}));
      EXPECT_TRUE(test::same_bits(d_table, in_order)) << threads << " threads, " << channels << " channels";
      EXPECT_LE(test::largest_error(d_table, expected), kTolerance);
    }
  }
}

TEST(Embedding, ScattersRowsOverZeros) {
  const std::int64_t channels = 33;
  std::vector<float> in = seeded(kTokens * channels, 6, 1);
  std::vector<std::int32_t> row = indices(kTokens, kVocabulary - 1, 7);  // the last row receives nothing
  std::vector<double> expected(static_cast<std::size_t>(kVocabulary * channels));
  reference::add_rows(expected, test::to_double(in), row, static_cast<std::size_t>(channels));
  std::vector<float> one;
  for (int threads : {1, 2, 3}) {
    const Stream stream(threads, Stream::Waiting::sleep);
    std::vector<float> out = poisoned(kVocabulary * channels);
    ops::scatter_rows(stream, view_of(out, {kVocabulary, channels}), view_of(in, {kTokens, channels}),
                      view_of(row, {kTokens}));
    EXPECT_LE(test::largest_error(out, expected), kTolerance);
    if (one.empty()) one = out;
    EXPECT_TRUE(test::same_bits(out, one));
  }
}

TEST(Embedding, RefusesATokenOutsideTheVocabulary) {
  const Stream stream(1, Stream::Waiting::sleep);
  std::vector<float> table = seeded(kVocabulary, 1, 1), out = poisoned(1);
  std::vector<std::int32_t> token = {static_cast<std::int32_t>(kVocabulary)};
  EXPECT_THROW(ops::embedding(stream, view_of(out, {1, 1}), view_of(table, {kVocabulary, 1}), view_of(token, {1})),
               Error);
}

}  // namespace
}  // namespace maxplus
