// Who draws what, and what is expected of it: every item once, the largest first, as good as the bound of Graham, and
// the same after a checkpoint.
#include "run/dispatch.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/random.hpp"
#include "roles/exchange.hpp"

namespace maxplus {
namespace {

std::vector<Experience> group_of(std::int64_t problem, std::int64_t number, const std::vector<std::size_t>& lengths) {
  std::vector<Experience> group;
  for (const std::size_t length : lengths) {
    Experience& experience = group.emplace_back();
    experience.problem.id = problem;
    experience.rollout.group = number;
    experience.rollout.token.resize(length);
  }
  return group;
}

// The work of the rank that has most.
double makespan_of(const std::vector<double>& work, const std::vector<int>& rank_of, int ranks) {
  std::vector<double> load(static_cast<std::size_t>(ranks));
  for (std::size_t i = 0; i < work.size(); ++i) load[static_cast<std::size_t>(rank_of[i])] += work[i];
  return *std::max_element(load.begin(), load.end());
}

// Of all ways to deal.
double best_makespan(const std::vector<double>& work, int ranks) {
  std::vector<int> rank_of(work.size());
  double best = std::accumulate(work.begin(), work.end(), 0.0);
  while (true) {
    best = std::min(best, makespan_of(work, rank_of, ranks));
    std::size_t digit = 0;
    while (digit < rank_of.size() && ++rank_of[digit] == ranks) rank_of[digit++] = 0;
    if (digit == rank_of.size()) return best;
  }
}

TEST(Dispatch, DealsEveryItemOnceTheLargestFirstAndNearTheBest) {
  for (int ranks = 1; ranks <= 3; ++ranks) {
    for (std::uint32_t trial = 0; trial < 40; ++trial) {
      std::vector<double> work(1 + trial % 7);
      for (std::size_t i = 0; i < work.size(); ++i)
        work[i] = 1 + std::floor(9 * uniform_double(3, Purpose::forced_length, trial, i));  // some are equal
      std::vector<int> rank_of(work.size(), -1);
      for (int rank = 0; rank < ranks; ++rank) {
        const std::vector<std::int64_t> mine = dealt_longest_first(work, rank, ranks);
        for (std::size_t i = 0; i < mine.size(); ++i) {
          const auto item = static_cast<std::size_t>(mine[i]);
          EXPECT_EQ(rank_of[item], -1);
          rank_of[item] = rank;
          if (i == 0) continue;
          const auto before = static_cast<std::size_t>(mine[i - 1]);
          EXPECT_TRUE(work[before] > work[item] || (work[before] == work[item] && before < item));
        }
      }
      EXPECT_EQ(std::count(rank_of.begin(), rank_of.end(), -1), 0);
      const double bound = 4.0 / 3.0 - 1.0 / (3.0 * ranks);
      EXPECT_LE(makespan_of(work, rank_of, ranks), bound * best_makespan(work, ranks) + 1e-9);
    }
  }
}

TEST(Dispatch, DealsItemsThatAreAlikeInTurns) {
  for (int ranks = 1; ranks <= 4; ++ranks) {
    for (std::int64_t items = 0; items <= 9; ++items) {
      const std::vector<double> work(static_cast<std::size_t>(items), 4.0);
      for (int rank = 0; rank < ranks; ++rank)
        EXPECT_EQ(dealt_longest_first(work, rank, ranks), dealt_to_rank(items, rank, ranks));
    }
  }
}

TEST(Dispatch, ExpectsHalfOfTheNewestAndHalfOfBefore) {
  LengthsSeen seen;
  EXPECT_EQ(seen.expected(5), 0);
  std::vector<Experience> drawn = group_of(5, 0, {10, 20});
  const std::vector<Experience> other = group_of(7, 1, {60});
  drawn.insert(drawn.end(), other.begin(), other.end());
  seen.add(drawn);
  EXPECT_EQ(seen.expected(5), 15);
  EXPECT_EQ(seen.expected(7), 60);
  EXPECT_EQ(seen.expected(6), 30) << "of a new problem: of all rollouts";
  seen.add(group_of(5, 0, {3, 5, 7}));
  seen.add({});
  EXPECT_EQ(seen.expected(5), 10);
  EXPECT_EQ(seen.expected(7), 60);
  EXPECT_EQ(seen.expected(6), 17.5);
}

TEST(Dispatch, ExpectsOfARolloutWhatIsLeftOfItWithinABudget) {
  EXPECT_EQ(expected_tokens(30, 0, 0), 30);
  EXPECT_EQ(expected_tokens(30, 12, 0), 18);
  EXPECT_EQ(expected_tokens(30, 12, 5), 5);
  EXPECT_EQ(expected_tokens(30, 40, 5), 1) << "one that is longer than expected";
  EXPECT_EQ(expected_tokens(0, 0, 0), 1) << "where nothing is known";
}

TEST(Dispatch, LengthsSeenComeBackAsTheyWere) {
  LengthsSeen seen;
  EXPECT_TRUE(seen.pack().empty());
  EXPECT_EQ(LengthsSeen::unpack({}), seen);
  seen.add(group_of(5, 0, {1, 1, 3}));
  seen.add(group_of(-7, 0, {11, 12}));
  const std::vector<std::byte> bytes = seen.pack();
  EXPECT_EQ(LengthsSeen::unpack(bytes), seen);
  for (const std::size_t left : {bytes.size() - 1, bytes.size() - 16, std::size_t{8}})
    EXPECT_THROW(LengthsSeen::unpack(std::span(bytes).first(left)), Error);
}

}  // namespace
}  // namespace maxplus
