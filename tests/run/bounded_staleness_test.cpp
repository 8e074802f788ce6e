// Iterations that wait at the generator's own pace: what is whole, where groups belong, and which decks are refused.
#include "run/bounded_staleness.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "run/role_placement.hpp"

namespace maxplus {
namespace {

Experience member_of(std::uint32_t iteration, std::uint32_t slot, std::uint32_t member, std::int64_t group) {
  Experience experience;
  experience.rollout.id = {iteration, 0, slot, member};
  experience.rollout.group = group;
  return experience;
}

Collected iteration_with(std::int64_t iteration, std::int64_t groups) {
  Collected collected;
  collected.facts.iteration = iteration;
  collected.facts.groups = groups;
  return collected;
}

TEST(BoundedStaleness, IsWholeUpToTheFirstIterationThatLacksAGroup) {
  std::vector<Collected> waiting;
  EXPECT_EQ(last_whole(waiting, 4, 3), 4);
  waiting = {iteration_with(5, 3), iteration_with(6, 3), iteration_with(7, 2), iteration_with(8, 3)};
  EXPECT_EQ(last_whole(waiting, 4, 3), 6);
  EXPECT_EQ(last_whole(waiting, 3, 3), 3) << "the next one has not begun";
  waiting.front().facts.groups = 1;
  EXPECT_EQ(last_whole(waiting, 4, 3), 4);
}

TEST(BoundedStaleness, KeepsWhatWaitsInOrder) {
  std::vector<Collected> waiting;
  for (const std::int64_t iteration : {5, 3, 9, 3, 4}) waiting_of(iteration, &waiting).facts.groups += 1;
  ASSERT_EQ(waiting.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(waiting[i].facts.iteration, (std::vector<std::int64_t>{3, 4, 5, 9})[i]);
  EXPECT_EQ(waiting[0].facts.groups, 2);
}

TEST(BoundedStaleness, DealsGroupsToTheirIterationsWithItsNumbers) {
  std::vector<Experience> drawn;
  for (const auto& [iteration, slot] : {std::pair<std::uint32_t, std::uint32_t>{7, 2}, {6, 1}, {7, 0}}) {
    for (std::uint32_t member = 0; member < 2; ++member)
      drawn.push_back(member_of(iteration, slot, member, (std::int64_t{8 - iteration} << 40) | slot));
  }
  std::vector<Collected> parts = by_iteration(drawn);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].facts.iteration, 6);
  EXPECT_EQ(parts[0].facts.groups, 1);
  EXPECT_EQ(parts[1].facts.groups, 2);
  ASSERT_EQ(parts[1].experiences.size(), 4u);
  parts[1].dropped = {1, 1, 0, 0};
  sort_groups(&parts[1]);
  EXPECT_EQ(parts[1].dropped, (std::vector<std::uint8_t>{0, 0, 1, 1}));
  for (std::uint32_t i = 0; i < 4; ++i) {
    EXPECT_EQ(parts[1].experiences[i].rollout.id.slot, i < 2 ? 0 : 2);
    EXPECT_EQ(parts[1].experiences[i].rollout.id.index, i % 2);
    EXPECT_EQ(parts[1].experiences[i].rollout.group, i < 2 ? 0 : 2) << "as if nothing had interrupted it";
  }
}

TEST(BoundedStaleness, IsOnPolicyWhereRanksDoEverything) {
  Deck deck;
  deck.schedule.max_staleness = 3;
  deck.schedule.staleness = "bounded";
  EXPECT_EQ(schedule_kind(deck, SharedRanks::all).max_staleness, 0);
  EXPECT_EQ(schedule_kind(deck, SharedRanks::generator_judges).max_staleness, 3);
  EXPECT_EQ(schedule_kind(deck, SharedRanks::generator_judges).staleness, Staleness::bounded);
  deck.schedule.staleness = "exact";
  EXPECT_EQ(schedule_kind(deck, SharedRanks::all).max_staleness, 3);
}

TEST(BoundedStaleness, NamesAllThatItDoesNotGoWith) {
  Deck deck;
  std::vector<Fault> faults;
  deck.schedule.staleness = "bounded";
  check_bounded_staleness(deck, faults);
  EXPECT_TRUE(faults.empty());
  deck.schedule.token_budget = 5;
  deck.generation.zero_spread = "resample";
  deck.environment.emplace();
  check_bounded_staleness(deck, faults);
  EXPECT_EQ(faults.size(), 3u);
  for (const Fault& fault : faults) EXPECT_EQ(fault.found.find("[schedule] staleness = \"bounded\" "), 0u);
  deck.schedule.staleness = "exact";
  faults.clear();
  check_bounded_staleness(deck, faults);
  EXPECT_TRUE(faults.empty());
}

}  // namespace
}  // namespace maxplus
