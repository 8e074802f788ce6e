// Draws are functions of their counters, spread evenly, and kept apart by purpose.
#include "base/random.hpp"

#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace maxplus {
namespace {

TEST(Random, DependsOnSeedPurposeAndBothCountersOnly) {
  const auto draw = [](std::uint64_t seed, Purpose purpose, std::uint64_t a, std::uint64_t b) {
    return uniform_double(seed, purpose, a, b);
  };
  const double first = draw(1, Purpose::test, 2, 3);
  EXPECT_EQ(draw(1, Purpose::test, 2, 3), first);
  const std::set<double> all = {first,
                                draw(2, Purpose::test, 2, 3),
                                draw(std::uint64_t{1} | std::uint64_t{1} << 40, Purpose::test, 2, 3),
                                draw(1, Purpose::sampling, 2, 3),
                                draw(1, Purpose::test, 3, 3),
                                draw(1, Purpose::test, 2, 4),
                                draw(1, Purpose::test, 2 + (std::uint64_t{1} << 32), 3),
                                draw(1, Purpose::test, 2, 3 + (std::uint64_t{1} << 32))};
  EXPECT_EQ(all.size(), 8u);
}

TEST(Random, PurposesDoNotCollideForSmallSeeds) {
  std::set<std::uint64_t> words;
  int draws = 0;
  for (std::uint64_t seed = 0; seed < 64; ++seed) {
    for (const Purpose purpose : {Purpose::sampling, Purpose::initial_weights, Purpose::problem_order, Purpose::task,
                                  Purpose::random_reward, Purpose::evaluation, Purpose::warm_start_order}) {
      const RandomBlock block = random_block(seed, purpose, 0, 0);
      words.insert(static_cast<std::uint64_t>(block.word[0]) << 32 | block.word[1]);
      ++draws;
    }
  }
  EXPECT_EQ(static_cast<int>(words.size()), draws);
}

TEST(Random, UniformCoversTheUnitIntervalEvenly) {
  constexpr int kDraws = 100000, kBins = 20;
  std::vector<int> bin(kBins, 0);
  for (std::uint64_t i = 0; i < kDraws; ++i) {
    const float u = uniform(5, Purpose::test, i, 0);
    ASSERT_GE(u, 0.0f);
    ASSERT_LT(u, 1.0f);
    ++bin[static_cast<std::size_t>(u * kBins)];
  }
  double chi_square = 0.0;
  for (const int count : bin) chi_square += (count - kDraws / kBins) * (count - kDraws / kBins) / double{kDraws / kBins};
  EXPECT_LT(chi_square, 43.8);  // 19 degrees of freedom, 0.1 %
}

TEST(Random, UniformBelowReachesEveryNumber) {
  std::vector<int> seen(7, 0);
  for (std::uint64_t i = 0; i < 7000; ++i) ++seen[uniform_below(7, 6, Purpose::test, i, 0)];
  for (const int count : seen) EXPECT_NEAR(count, 1000, 150);
  EXPECT_EQ(uniform_below(1, 6, Purpose::test, 0, 0), 0u);
}

}  // namespace
}  // namespace maxplus
