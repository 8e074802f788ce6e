// GeGLU and soft caps against plain double loops, finite differences, and themselves under other teams.
#include <gtest/gtest.h>

#include "kernels/every_set.hpp"
#include "kernels/host_tensors.hpp"
#include "ops/activation.hpp"
#include "reference/activation.hpp"

namespace maxplus {
namespace {

using test::poisoned;
using test::seeded;
using test::to_double;
using test::view_of;

// exp to a few units in the last place of an argument that is itself rounded: its error is that of 2 u, at most about
// 20 where the result has not vanished, times 6e-8
constexpr double kTolerance = 4e-6;
constexpr double kCapTolerance = 1e-6;  // tanh to three units in the last place, two products
constexpr double kDifferenceTolerance = 1e-7;
constexpr float kWide = 12;

struct Result {
  std::vector<float> out, d_gate_up, capped, d_in;
};

Result run(int threads, std::int64_t tokens, std::int64_t width, float cap) {
  const Stream stream(threads, Stream::Waiting::sleep);
  std::vector<float> gate_up = seeded(tokens * 2 * width, 1, kWide), d_out = seeded(tokens * width, 2, 1);
  Result r{poisoned(tokens * width), poisoned(tokens * 2 * width), seeded(tokens * width, 3, kWide),
           seeded(tokens * width, 4, 1)};
  ops::geglu(stream, view_of(r.out, {tokens, width}), view_of(gate_up, {tokens, 2 * width}));
  ops::geglu_backward(stream, view_of(r.d_gate_up, {tokens, 2 * width}), view_of(d_out, {tokens, width}),
                      view_of(gate_up, {tokens, 2 * width}));
  const TensorView capped = view_of(r.capped, {tokens, width}), d_in = view_of(r.d_in, {tokens, width});
  ops::soft_cap(stream, capped, capped, cap);  // both in place
  ops::soft_cap_backward(stream, d_in, d_in, capped, cap);
  return r;
}

TEST(GeGlu, AgreesWithTheDoubleLoops) {
  for (std::int64_t tokens : {0, 1, 11}) {
    for (std::int64_t width : {1, 15, 16, 17, 101}) {
      const Result r = run(2, tokens, width, 1);
      const std::vector<double> gate_up = to_double(seeded(tokens * 2 * width, 1, kWide));
      const auto w = static_cast<std::size_t>(width);
      EXPECT_LE(test::largest_error(r.out, reference::geglu(gate_up, w)), kTolerance) << tokens << " x " << width;
      EXPECT_LE(test::largest_error(r.d_gate_up,
                                    reference::geglu_backward(to_double(seeded(tokens * width, 2, 1)), gate_up, w)),
                kTolerance)
          << tokens << " x " << width;
    }
  }
}

TEST(GeGlu, StaysFiniteForGatesOfAnySize) {
  const Stream stream(1, Stream::Waiting::sleep);
  std::vector<float> gate_up = {-1e30f, -100, -31, 0, 31, 100, 1e30f, 1, 1, 1, 1, 1, 1, 1};
  std::vector<float> d_out(7, 1), out = poisoned(7), d_gate_up = poisoned(14);
  ops::geglu(stream, view_of(out, {1, 7}), view_of(gate_up, {1, 14}));
  ops::geglu_backward(stream, view_of(d_gate_up, {1, 14}), view_of(d_out, {1, 7}), view_of(gate_up, {1, 14}));
  for (float x : out) EXPECT_TRUE(std::isfinite(x));
  for (float x : d_gate_up) EXPECT_TRUE(std::isfinite(x));
  EXPECT_EQ(out[0], 0.0f);
  EXPECT_EQ(out[6], 1e30f);
  EXPECT_EQ(d_gate_up[0], 0.0f);
  EXPECT_EQ(d_gate_up[6], 1.0f);
}

TEST(GeGlu, HasTheGradientThatDifferencesShow) {
  const std::vector<double> gate_up = to_double(seeded(2 * 6, 1, 2)), d_out = to_double(seeded(2 * 3, 2, 1));
  const std::vector<double> d = reference::geglu_backward(d_out, gate_up, 3);
  const auto loss = [&](const std::vector<double>& x) { return test::dot(d_out, reference::geglu(x, 3)); };
  for (std::size_t i = 0; i < gate_up.size(); ++i)
    EXPECT_NEAR(d[i], test::difference(gate_up, i, loss), kDifferenceTolerance);
}

TEST(SoftCap, AgreesWithTheDoubleLoopsInValueAndSlope) {
  for (const float cap : {1.5f, 10.0f, 30.0f}) {
    const Result r = run(2, 9, 83, cap);
    std::vector<double> in = to_double(seeded(9 * 83, 3, kWide)), expected,
                        d_expected = to_double(seeded(9 * 83, 4, 1));
    for (std::size_t i = 0; i < in.size(); ++i) {
      const double t = std::tanh(in[i] / cap);
      expected.push_back(cap * t);
      d_expected[i] *= 1 - t * t;
    }
    EXPECT_LE(test::largest_error(r.capped, expected), kCapTolerance) << cap;
    EXPECT_LE(test::largest_error(r.d_in, d_expected), kCapTolerance) << cap;
  }
}

TEST(SoftCap, KeepsSmallValuesAndNeverLeavesTheCap) {
  const Stream stream(1, Stream::Waiting::sleep);
  std::vector<float> in = {0.0f, 1e-20f, -3e-6f, 1e30f, -1e30f, 400.0f}, out = poisoned(6);
  ops::soft_cap(stream, view_of(out, {1, 6}), view_of(in, {1, 6}), 4.0f);
  EXPECT_EQ(out[0], 0.0f);
  EXPECT_FLOAT_EQ(out[1], 1e-20f);
  EXPECT_FLOAT_EQ(out[2], -3e-6f);
  EXPECT_EQ(out[3], 4.0f);
  EXPECT_EQ(out[4], -4.0f);
  EXPECT_EQ(out[5], 4.0f);
}

TEST(GeGlu, GivesTheSameBitsWithAnyInstructionSetOnAnyTeam) {
  const Result one = run(1, 13, 45, 7);
  test::with_every_set_and_team([&](int threads) {
    const Result other = run(threads, 13, 45, 7);
    EXPECT_TRUE(test::same_bits(one.out, other.out));
    EXPECT_TRUE(test::same_bits(one.d_gate_up, other.d_gate_up));
    EXPECT_TRUE(test::same_bits(one.capped, other.capped));
    EXPECT_TRUE(test::same_bits(one.d_in, other.d_in));
  });
}

}  // namespace
}  // namespace maxplus
