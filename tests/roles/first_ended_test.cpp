// Which rollouts of a group count: by lengths alone, and what is known of it while they are drawn is never wrong.
#include "roles/first_ended.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.hpp"

namespace maxplus {
namespace {

constexpr std::int64_t kLongest = 9;

Rollout rollout_of(std::int64_t tokens, Finish finish) {
  Rollout rollout;
  rollout.token.resize(static_cast<std::size_t>(tokens));
  rollout.finish = finish;
  return rollout;
}

std::int64_t random_below(std::int64_t bound, std::uint64_t trial, std::uint64_t which) {
  return static_cast<std::int64_t>(static_cast<double>(bound) * uniform_double(2, Purpose::sampling, trial, which));
}

// Places of those that count, by comparing every two.
std::set<std::size_t> counting(const std::vector<std::int64_t>& lengths, std::int64_t wanted) {
  std::set<std::size_t> places;
  for (std::size_t a = 0; a < lengths.size(); ++a) {
    std::int64_t before = 0;
    for (std::size_t b = 0; b < lengths.size(); ++b)
      before += lengths[b] < lengths[a] || (lengths[b] == lengths[a] && b < a) ? 1 : 0;
    if (before < wanted) places.insert(a);
  }
  return places;
}

TEST(FirstEnded, TellsWhoHasEnded) {
  EXPECT_TRUE(has_ended(rollout_of(1, Finish::stopped)));
  EXPECT_TRUE(has_ended(rollout_of(1, Finish::length)));
  EXPECT_TRUE(has_ended(rollout_of(1, Finish::budget)));
  EXPECT_FALSE(has_ended(rollout_of(1, Finish::aborted)));
  EXPECT_FALSE(has_ended(rollout_of(1, Finish::parked)));
  EXPECT_FALSE(has_ended(rollout_of(1, Finish::surplus)));
}

TEST(FirstEnded, OfEqualsTheFirstCounts) {
  const std::vector<Rollout> group = {rollout_of(5, Finish::stopped), rollout_of(3, Finish::length),
                                      rollout_of(3, Finish::stopped), rollout_of(2, Finish::aborted)};
  using Last = std::pair<std::int64_t, std::size_t>;
  EXPECT_EQ(last_that_counts(group, 1), (Last{3, 1}));
  EXPECT_EQ(last_that_counts(group, 2), (Last{3, 2}));
  EXPECT_EQ(last_that_counts(group, 3), (Last{5, 0}));
  EXPECT_EQ(last_that_counts(group, 4), std::nullopt);
  EXPECT_EQ(last_that_counts(group, 0), std::nullopt);
  EXPECT_EQ(complete_at(group, 2).at_most, 3);
  EXPECT_EQ(complete_at(group, 2).at_least, 3) << "the last may end with its third token";
  EXPECT_EQ(complete_at(group, 4).at_most, kNotYet);
}

// Rollouts get tokens in any order, as rows become free; those that cannot count any more are stopped.
TEST(FirstEnded, NothingThatCountsIsStoppedAndBoundsHoldWhateverTheOrderOfDrawing) {
  std::int64_t stopped = 0;
  for (std::uint64_t trial = 0; trial < 300; ++trial) {
    const auto members = static_cast<std::size_t>(1 + random_below(6, trial, 0));
    const std::int64_t wanted = 1 + random_below(static_cast<std::int64_t>(members), trial, 1);
    std::vector<std::int64_t> lengths;
    for (std::size_t i = 0; i < members; ++i) lengths.push_back(1 + random_below(kLongest, trial, 10 + i));
    const std::set<std::size_t> expected = counting(lengths, wanted);
    std::int64_t complete = 0;
    for (const std::size_t place : expected) complete = std::max(complete, lengths[place]);
    std::vector<Rollout> group(members, rollout_of(0, Finish::aborted));
    std::uint64_t draw = 100;
    while (std::any_of(group.begin(), group.end(), [](const Rollout& r) { return r.finish == Finish::aborted; })) {
      const auto place = static_cast<std::size_t>(random_below(static_cast<std::int64_t>(members), trial, ++draw));
      Rollout& rollout = group[place];
      if (rollout.finish != Finish::aborted) continue;
      const auto last = last_that_counts(group, wanted);
      if (last && std::pair(std::ssize(rollout.token) + 1, place) > *last) {
        EXPECT_EQ(expected.count(place), 0u);
        rollout.finish = Finish::surplus;
        ++stopped;
      } else {
        rollout.token.push_back(0);
        if (std::ssize(rollout.token) == lengths[place]) rollout.finish = Finish::stopped;
      }
      const CompleteAt bounds = complete_at(group, wanted);
      EXPECT_LE(bounds.at_least, complete);
      EXPECT_GE(bounds.at_most, complete);
    }
    EXPECT_EQ(complete_at(group, wanted).at_most, complete);
    EXPECT_EQ(last_that_counts(group, wanted)->first, complete);
  }
  EXPECT_GT(stopped, 100) << "or this tests nothing";
}

}  // namespace
}  // namespace maxplus
