// SwiGLU against plain double loops, finite differences, and itself under other teams.
#include "ops/activation.hpp"

#include <gtest/gtest.h>

#include "kernels/every_set.hpp"
#include "kernels/host_tensors.hpp"
#include "reference/activation.hpp"

namespace maxplus {
namespace {

using test::poisoned;
using test::seeded;
using test::to_double;
using test::view_of;

constexpr double kTolerance = 2e-6;  // exp to a few units in the last place, then six roundings
constexpr double kDifferenceTolerance = 1e-7;
constexpr float kWide = 30;  // gates from -30 to 30: both ends of the sigmoid

struct Result {
  std::vector<float> out, d_gate_up;
};

Result run(int threads, std::int64_t tokens, std::int64_t width) {
  const Stream stream(threads, Stream::Waiting::sleep);
  std::vector<float> gate_up = seeded(tokens * 2 * width, 1, kWide), d_out = seeded(tokens * width, 2, 1);
  Result r{poisoned(tokens * width), poisoned(tokens * 2 * width)};
  ops::swiglu(stream, view_of(r.out, {tokens, width}), view_of(gate_up, {tokens, 2 * width}));
  ops::swiglu_backward(stream, view_of(r.d_gate_up, {tokens, 2 * width}), view_of(d_out, {tokens, width}),
                       view_of(gate_up, {tokens, 2 * width}));
  return r;
}

TEST(SwiGlu, AgreesWithTheDoubleLoops) {
  for (std::int64_t tokens : {0, 1, 11}) {
    for (std::int64_t width : {1, 15, 16, 17, 101}) {
      const Result r = run(2, tokens, width);
      const std::vector<double> gate_up = to_double(seeded(tokens * 2 * width, 1, kWide));
      const auto w = static_cast<std::size_t>(width);
      EXPECT_LE(test::largest_error(r.out, reference::swiglu(gate_up, w)), kTolerance) << tokens << " x " << width;
      EXPECT_LE(test::largest_error(r.d_gate_up,
                                    reference::swiglu_backward(to_double(seeded(tokens * width, 2, 1)), gate_up, w)),
                kTolerance)
          << tokens << " x " << width;
    }
  }
}

TEST(SwiGlu, StaysFiniteForGatesOfAnySize) {
  const Stream stream(1, Stream::Waiting::sleep);
  std::vector<float> gate_up = {-1e30f, -100, -88, 0, 88, 100, 1e30f, 1, 1, 1, 1, 1, 1, 1};
  std::vector<float> d_out(7, 1), out = poisoned(7), d_gate_up = poisoned(14);
  ops::swiglu(stream, view_of(out, {1, 7}), view_of(gate_up, {1, 14}));
  ops::swiglu_backward(stream, view_of(d_gate_up, {1, 14}), view_of(d_out, {1, 7}), view_of(gate_up, {1, 14}));
  for (float x : out) EXPECT_TRUE(std::isfinite(x));
  for (float x : d_gate_up) EXPECT_TRUE(std::isfinite(x));
  EXPECT_EQ(out[6], 1e30f);
  EXPECT_EQ(d_gate_up[6], 1.0f);
}

TEST(SwiGlu, HasTheGradientThatDifferencesShow) {
  const std::vector<double> gate_up = to_double(seeded(2 * 6, 1, 2)), d_out = to_double(seeded(2 * 3, 2, 1));
  const std::vector<double> d = reference::swiglu_backward(d_out, gate_up, 3);
  const auto loss = [&](const std::vector<double>& x) { return test::dot(d_out, reference::swiglu(x, 3)); };
  for (std::size_t i = 0; i < gate_up.size(); ++i)
    EXPECT_NEAR(d[i], test::difference(gate_up, i, loss), kDifferenceTolerance);
}

TEST(SwiGlu, GivesTheSameBitsWithAnyInstructionSetOnAnyTeam) {
  const Result one = run(1, 13, 45);
  test::with_every_set_and_team([&](int threads) {
    const Result other = run(threads, 13, 45);
    EXPECT_TRUE(test::same_bits(one.out, other.out));
    EXPECT_TRUE(test::same_bits(one.d_gate_up, other.d_gate_up));
  });
}

}  // namespace
}  // namespace maxplus
