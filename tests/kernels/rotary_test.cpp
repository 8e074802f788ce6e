// Rotary embedding against a plain double loop; the backward turn is the adjoint and the inverse.
#include "ops/rotary.hpp"

#include <gtest/gtest.h>

#include "kernels/every_set.hpp"
#include "kernels/host_tensors.hpp"
#include "reference/rotary.hpp"

namespace maxplus {
namespace {

using test::seeded;
using test::view_of;

constexpr double kTolerance = 5e-7;         // three roundings of 6e-8 on sums of two
constexpr double kInverseTolerance = 2e-6;  // and once back, with a table of sines that is itself rounded
constexpr std::int64_t kHeads = 3, kKvHeads = 2, kPositions = 40;

struct Case {
  std::vector<float> qkv, cosine, sine;
  std::vector<std::int32_t> position;
};

Case make_case(std::int64_t tokens, std::int64_t width) {
  Case c{seeded(tokens * (kHeads + 2 * kKvHeads) * width, 1, 1), {}, {}, {}};
  for (std::int64_t i = 0; i < kPositions * (width / 2); ++i) {
    const double angle = 0.37 * static_cast<double>(i);
    c.cosine.push_back(static_cast<float>(std::cos(angle)));
    c.sine.push_back(static_cast<float>(std::sin(angle)));
  }
  for (std::int64_t t = 0; t < tokens; ++t) c.position.push_back(static_cast<std::int32_t>((t * 7 + 3) % kPositions));
  return c;
}

void turn(Case& c, std::int64_t tokens, std::int64_t width, ops::Turn direction, int threads) {
  const Stream stream(threads, Stream::Waiting::sleep);
  ops::rotary(stream, view_of(c.qkv, {tokens, (kHeads + 2 * kKvHeads) * width}),
              view_of(c.cosine, {kPositions, width / 2}), view_of(c.sine, {kPositions, width / 2}),
              view_of(c.position, {tokens}), kHeads, kKvHeads, width, direction);
}

TEST(Rotary, AgreesWithTheDoubleLoopInBothDirections) {
  for (std::int64_t width : {2, 8, 10, 16, 34, 64}) {
    for (std::int64_t tokens : {0, 1, 19}) {
      for (ops::Turn direction : {ops::Turn::forward, ops::Turn::backward}) {
        Case c = make_case(tokens, width);
        std::vector<double> expected = test::to_double(c.qkv);
        reference::rotary(expected, test::to_double(c.cosine), test::to_double(c.sine), c.position, kHeads + kKvHeads,
                          static_cast<std::size_t>((kHeads + 2 * kKvHeads) * width), static_cast<std::size_t>(width),
                          direction == ops::Turn::forward ? 1 : -1);
        turn(c, tokens, width, direction, 2);
        EXPECT_LE(test::largest_error(c.qkv, expected), kTolerance) << "width " << width << " tokens " << tokens;
      }
    }
  }
}

TEST(Rotary, TurnedBackGivesWhatWasThere) {
  Case c = make_case(19, 34);
  const std::vector<double> before = test::to_double(c.qkv);
  turn(c, 19, 34, ops::Turn::forward, 1);
  turn(c, 19, 34, ops::Turn::backward, 1);
  EXPECT_LE(test::largest_error(c.qkv, before), kInverseTolerance);
}

TEST(Rotary, GivesTheSameBitsWithAnyInstructionSetOnAnyTeamAndForATokenAlone) {
  Case one = make_case(19, 10), alone = make_case(19, 10);
  turn(one, 19, 10, ops::Turn::forward, 1);
  test::with_every_set_and_team([&](int threads) {
    Case other = make_case(19, 10);
    turn(other, 19, 10, ops::Turn::forward, threads);
    EXPECT_TRUE(test::same_bits(one.qkv, other.qkv));
  });
  const std::int64_t row = (kHeads + 2 * kKvHeads) * 10;
  alone.qkv.assign(alone.qkv.begin() + 4 * row, alone.qkv.begin() + 5 * row);
  alone.position = {alone.position[4]};
  turn(alone, 1, 10, ops::Turn::forward, 1);
  EXPECT_TRUE(test::same_bits(alone.qkv, {one.qkv.begin() + 4 * row, one.qkv.begin() + 5 * row}));
}

}  // namespace
}  // namespace maxplus
