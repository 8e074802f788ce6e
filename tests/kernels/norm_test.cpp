// RMS normalisation against plain double loops, finite differences, and itself under other teams.
#include "ops/norm.hpp"

#include <gtest/gtest.h>

#include "kernels/every_set.hpp"
#include "kernels/host_tensors.hpp"
#include "reference/norm.hpp"

namespace maxplus {
namespace {

using test::poisoned;
using test::seeded;
using test::to_double;
using test::view_of;

constexpr double kTolerance = 2e-6;     // a dozen roundings of 6e-8 on values of order 1
constexpr double kSumTolerance = 1e-5;  // chains over tokens add about sqrt(T) roundings
constexpr double kDifferenceTolerance = 1e-7;
constexpr float kEpsilon = 1e-5f;

struct Result {
  std::vector<float> out, inverse_rms, d_in, d_weight;
};

Result run(int threads, std::int64_t tokens, std::int64_t channels) {
  const Stream stream(threads, Stream::Waiting::sleep);
  std::vector<float> in = seeded(tokens * channels, 1, 1), weight = seeded(channels, 2, 2);
  std::vector<float> d_out = seeded(tokens * channels, 3, 1), addend = seeded(tokens * channels, 4, 1);
  Result r{poisoned(tokens * channels), poisoned(tokens), poisoned(tokens * channels), seeded(channels, 5, 1)};
  ops::rms_norm(stream, view_of(r.out, {tokens, channels}), view_of(r.inverse_rms, {tokens}),
                view_of(in, {tokens, channels}), view_of(weight, {channels}), kEpsilon);
  ops::rms_norm_backward(stream, view_of(r.d_in, {tokens, channels}), view_of(r.d_weight, {channels}),
                         view_of(addend, {tokens, channels}), view_of(d_out, {tokens, channels}),
                         view_of(in, {tokens, channels}), view_of(r.inverse_rms, {tokens}),
                         view_of(weight, {channels}));
  return r;
}

TEST(RmsNorm, AgreesWithTheDoubleLoops) {
  for (std::int64_t tokens : {0, 1, 7, 70}) {
    for (std::int64_t channels : {1, 15, 16, 17, 53, 576}) {
      const Result r = run(2, tokens, channels);
      const std::vector<double> in = to_double(seeded(tokens * channels, 1, 1)),
                                weight = to_double(seeded(channels, 2, 2));
      const auto forward = reference::rms_norm(in, weight, kEpsilon);
      EXPECT_LE(test::largest_error(r.out, forward.out), kTolerance) << tokens << " x " << channels;
      EXPECT_LE(test::largest_error(r.inverse_rms, forward.inverse_rms), kTolerance);
      auto back =
          reference::rms_norm_backward(to_double(seeded(tokens * channels, 3, 1)), in, forward.inverse_rms, weight);
      const std::vector<float> addend = seeded(tokens * channels, 4, 1), before = seeded(channels, 5, 1);
      for (std::size_t i = 0; i < addend.size(); ++i) back.d_in[i] += addend[i];
      for (std::size_t c = 0; c < before.size(); ++c) back.d_weight[c] += before[c];
      EXPECT_LE(test::largest_error(r.d_in, back.d_in), kSumTolerance) << tokens << " x " << channels;
      EXPECT_LE(test::largest_error(r.d_weight, back.d_weight), kSumTolerance);
    }
  }
}

TEST(RmsNorm, HasTheGradientThatDifferencesShow) {
  const std::vector<double> in = to_double(seeded(3 * 5, 1, 1)), weight = to_double(seeded(5, 2, 2));
  const std::vector<double> d_out = to_double(seeded(3 * 5, 3, 1));
  const auto back =
      reference::rms_norm_backward(d_out, in, reference::rms_norm(in, weight, kEpsilon).inverse_rms, weight);
  for (std::size_t i = 0; i < in.size(); ++i) {
    const auto loss = [&](const std::vector<double>& x) {
      return test::dot(d_out, reference::rms_norm(x, weight, kEpsilon).out);
    };
    EXPECT_NEAR(back.d_in[i], test::difference(in, i, loss), kDifferenceTolerance);
  }
  for (std::size_t c = 0; c < weight.size(); ++c) {
    const auto loss = [&](const std::vector<double>& w) {
      return test::dot(d_out, reference::rms_norm(in, w, kEpsilon).out);
    };
    EXPECT_NEAR(back.d_weight[c], test::difference(weight, c, loss), kDifferenceTolerance);
  }
}

TEST(RmsNorm, GivesTheSameBitsWithAnyInstructionSetOnAnyTeam) {
  const Result one = run(1, 37, 83);
  test::with_every_set_and_team([&](int threads) {
    const Result other = run(threads, 37, 83);
    EXPECT_TRUE(test::same_bits(one.out, other.out));
    EXPECT_TRUE(test::same_bits(one.d_in, other.d_in));
    EXPECT_TRUE(test::same_bits(one.d_weight, other.d_weight));
  });
}

TEST(RmsNorm, AloneIsTheGradientWithNothingArrivingPastTheNorm) {
  const std::int64_t tokens = 7, channels = 53;
  const Stream stream(2, Stream::Waiting::sleep);
  std::vector<float> in = seeded(tokens * channels, 1, 1), weight = seeded(channels, 2, 2),
                     d_out = seeded(tokens * channels, 3, 1), d_weight = seeded(channels, 5, 1);
  Result whole = run(1, tokens, channels);
  std::vector<float> none(d_out.size(), 0.0f), expected = poisoned(tokens * channels), d_expected = d_weight;
  const TensorView x = view_of(in, {tokens, channels}), rms = view_of(whole.inverse_rms, {tokens}),
                   w = view_of(weight, {channels}), d = view_of(d_out, {tokens, channels});
  ops::rms_norm_backward(stream, view_of(expected, {tokens, channels}), view_of(d_expected, {channels}),
                         view_of(none, {tokens, channels}), d, x, rms, w);
  ops::rms_norm_backward_alone(stream, d, view_of(d_weight, {channels}), d, x, rms, w);  // in place
  EXPECT_EQ(d_out, expected);
  EXPECT_TRUE(test::same_bits(d_weight, d_expected));
}

TEST(RmsNorm, MayAddIntoItsOwnAddendAndContinuesWeightGradientsOverCalls) {
  const std::int64_t tokens = 9, channels = 21;
  const Stream stream(2, Stream::Waiting::sleep);
  const Result whole = run(1, tokens, channels);
  std::vector<float> in = seeded(tokens * channels, 1, 1), weight = seeded(channels, 2, 2),
                     d_out = seeded(tokens * channels, 3, 1);
  std::vector<float> d_in = seeded(tokens * channels, 4, 1), d_weight = seeded(channels, 5, 1),
                     inverse_rms = whole.inverse_rms;
  for (std::int64_t first : {0, 4}) {
    const std::int64_t count = first == 0 ? 4 : 5;
    const TensorView d_rows = view_of(d_in, {tokens, channels}).rows(first, count);
    ops::rms_norm_backward(stream, d_rows, view_of(d_weight, {channels}), d_rows,
                           view_of(d_out, {tokens, channels}).rows(first, count),
                           view_of(in, {tokens, channels}).rows(first, count),
                           view_of(inverse_rms, {tokens}).rows(first, count), view_of(weight, {channels}));
  }
  EXPECT_TRUE(test::same_bits(d_in, whole.d_in));
  EXPECT_TRUE(test::same_bits(d_weight, whole.d_weight));
}

}  // namespace
}  // namespace maxplus
