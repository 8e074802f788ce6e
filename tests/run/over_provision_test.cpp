// More than is trained on: which problems and rollouts are first, that every problem is trained on once, and which
// decks are refused.
#include "run/over_provision.hpp"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "base/random.hpp"

namespace maxplus {
namespace {

Deck deck_of(std::int64_t problems, std::int64_t members, double of_problems, double of_rollouts) {
  Deck deck;
  deck.generation.problems_per_iteration = problems;
  deck.generation.group_size = members;
  deck.schedule.over_provision_problems = of_problems;
  deck.schedule.over_provision_rollouts = of_rollouts;
  return deck;
}

std::vector<Fault> provision_faults(const Deck& deck) {
  std::vector<Fault> faults;
  check_over_provision(deck, faults);
  return faults;
}

std::int64_t drawn_below(std::int64_t bound, std::uint64_t trial, std::uint64_t which) {
  return static_cast<std::int64_t>(static_cast<double>(bound) * uniform_double(4, Purpose::sampling, trial, which));
}

using Lengths = std::vector<std::vector<std::int64_t>>;  // by slot and index

std::vector<DrawnLength> all_of(const Lengths& lengths) {
  std::vector<DrawnLength> drawn;
  for (std::uint32_t slot = 0; slot < lengths.size(); ++slot) {
    for (std::uint32_t index = 0; index < lengths[slot].size(); ++index)
      drawn.push_back({{3, 0, slot, index}, lengths[slot][index]});
  }
  return drawn;
}

// By comparing every two rollouts of a problem, then every two problems.
std::set<std::pair<std::uint32_t, std::uint32_t>> by_comparing(const Lengths& lengths, std::int64_t problems,
                                                               std::int64_t members) {
  std::set<std::pair<std::uint32_t, std::uint32_t>> of_groups;
  std::vector<std::int64_t> complete(lengths.size(), 0);
  for (std::uint32_t slot = 0; slot < lengths.size(); ++slot) {
    for (std::uint32_t a = 0; a < lengths[slot].size(); ++a) {
      std::int64_t before = 0;
      for (std::uint32_t b = 0; b < lengths[slot].size(); ++b) {
        const std::int64_t x = lengths[slot][b], y = lengths[slot][a];
        before += x < y || (x == y && b < a) ? 1 : 0;
      }
      if (before >= members) continue;
      of_groups.insert({slot, a});
      complete[slot] = std::max(complete[slot], lengths[slot][a]);
    }
  }
  std::set<std::pair<std::uint32_t, std::uint32_t>> first;
  for (const auto& [slot, index] : of_groups) {
    std::int64_t before = 0;
    for (std::uint32_t other = 0; other < lengths.size(); ++other)
      before += complete[other] < complete[slot] || (complete[other] == complete[slot] && other < slot) ? 1 : 0;
    if (before < problems) first.insert({slot, index});
  }
  return first;
}

TEST(OverProvision, TheFirstAreThoseWithTheFewestTokensInAnyOrderOfArrival) {
  for (std::uint64_t trial = 0; trial < 200; ++trial) {
    const std::int64_t problems = 1 + drawn_below(4, trial, 0), members = 1 + drawn_below(3, trial, 1);
    Lengths lengths(static_cast<std::size_t>(problems + drawn_below(4, trial, 2)));
    const std::int64_t begun = members + drawn_below(3, trial, 3);
    std::uint64_t draw = 10;
    for (auto& group : lengths) {
      for (std::int64_t i = 0; i < begun; ++i) group.push_back(1 + drawn_below(7, trial, ++draw));
    }
    const auto expected = by_comparing(lengths, problems, members);
    std::vector<DrawnLength> drawn = all_of(lengths);
    std::rotate(drawn.begin(), drawn.begin() + drawn_below(std::ssize(drawn), trial, 5), drawn.end());
    // What was stopped may be missing.
    std::vector<DrawnLength> fewer;
    for (const DrawnLength& one : drawn) {
      if (expected.count({one.id.slot, one.id.index}) > 0 || drawn_below(2, trial, ++draw) == 0) fewer.push_back(one);
    }
    for (const std::vector<DrawnLength>& given : {drawn, fewer}) {
      const FirstOnes ones = first_ones(given, std::ssize(lengths), problems, members);
      std::set<std::pair<std::uint32_t, std::uint32_t>> found;
      for (const RolloutId& id : ones.kept) found.insert({id.slot, id.index});
      EXPECT_EQ(found, expected);
      EXPECT_EQ(std::ssize(ones.kept), problems * members);
      EXPECT_TRUE(std::is_sorted(ones.kept.begin(), ones.kept.end()));
      EXPECT_TRUE(std::is_sorted(ones.late.begin(), ones.late.end()));
      EXPECT_EQ(std::ssize(ones.late) + problems, std::ssize(lengths));
      for (const std::int64_t slot : ones.late) {
        for (const RolloutId& id : ones.kept) EXPECT_NE(id.slot, slot);
      }
    }
  }
}

TEST(OverProvision, EveryProblemOfTheOrderIsTrainedOnOnceByTheEndOfTheRun) {
  std::int64_t long_rounds = 0;
  for (std::uint64_t trial = 0; trial < 200; ++trial) {
    const std::int64_t problems = 1 + drawn_below(5, trial, 0), last = 1 + drawn_below(9, trial, 1);
    const Deck deck = deck_of(problems, 2, 1 + 3 * uniform_double(5, Purpose::sampling, trial, 2), 1.5);
    std::vector<std::int64_t> list, places;
    std::set<std::int64_t> trained;
    std::int64_t cursor = 0;
    for (std::int64_t iteration = 1; iteration <= last; ++iteration) {
      const RoundPlan plan = plan_round(deck, last - iteration + 1, std::ssize(list));
      ASSERT_LE(plan.listed, std::ssize(list));
      places.assign(list.begin(), list.begin() + plan.listed);
      for (std::int64_t i = 0; i < plan.fresh; ++i) places.push_back(cursor++);
      ASSERT_GE(std::ssize(places), problems);
      EXPECT_TRUE(plan.chooses || std::ssize(places) == problems);
      EXPECT_EQ(plan.members, plan.chooses ? 3 : 2);
      if (plan.listed == problems) ++long_rounds;
      list.erase(list.begin(), list.begin() + plan.listed);
      // Any of them may be late.
      while (std::ssize(places) > problems) {
        const auto late = places.begin() + drawn_below(std::ssize(places), trial, 20 + trained.size() + places.size());
        list.push_back(*late);
        places.erase(late);
      }
      std::sort(list.begin(), list.end());
      for (const std::int64_t place : places) EXPECT_TRUE(trained.insert(place).second) << "twice";
    }
    EXPECT_TRUE(list.empty());
    EXPECT_EQ(std::ssize(trained), cursor) << "all that were taken";
    EXPECT_EQ(cursor, last * problems);
  }
  EXPECT_GT(long_rounds, 50);
}

TEST(OverProvision, BeginsTheSmallestWholeNumberThatReachesTheFactor) {
  EXPECT_EQ(plan_round(deck_of(10, 10, 1.1, 1.1), 9, 0).fresh, 11) << "and not one more for the rounding of a product";
  EXPECT_EQ(plan_round(deck_of(10, 10, 1.1, 1.1), 9, 0).members, 11);
  EXPECT_EQ(plan_round(deck_of(3, 4, 1.5, 1.25), 9, 0).fresh, 5);
  EXPECT_EQ(plan_round(deck_of(3, 4, 1.5, 1.25), 9, 0).members, 5);
  const RoundPlan plain = plan_round(deck_of(3, 4, 1, 1), 1, 0);
  EXPECT_EQ(plain.fresh, 3);
  EXPECT_EQ(plain.members, 4);
  EXPECT_FALSE(plain.chooses);
}

TEST(OverProvision, ARankKeepsWhatCounts) {
  const Problem a, b, c;
  std::vector<GenerationRequest> requests(3);
  std::vector<const Problem*> problem_of;
  std::vector<Rollout> rollouts;
  const Problem* of[] = {&a, &b, &c};
  for (std::uint32_t r = 0; r < 3; ++r) {
    requests[r].problem = of[r];
    for (std::uint32_t k = 0; k < 3; ++k) {
      requests[r].ids.push_back({1, 0, 2 * r, k});
      problem_of.push_back(of[r]);
      rollouts.emplace_back().id = requests[r].ids.back();
    }
  }
  const std::vector<RolloutId> kept = {{1, 0, 0, 1}, {1, 0, 0, 2}, {1, 0, 3, 0}, {1, 0, 4, 0}, {1, 0, 4, 2}};
  keep_only(kept, &requests, &problem_of, &rollouts);
  ASSERT_EQ(requests.size(), 2u);
  EXPECT_EQ(requests[0].ids, (std::vector<RolloutId>{kept[0], kept[1]}));
  EXPECT_EQ(requests[1].ids, (std::vector<RolloutId>{kept[3], kept[4]}));
  EXPECT_EQ(problem_of, (std::vector<const Problem*>{&a, &a, &c, &c}));
  ASSERT_EQ(rollouts.size(), 4u);
  EXPECT_EQ(rollouts[2].id, kept[3]);
}

TEST(OverProvision, WhatDoesNotGoTogetherIsRefusedAllAtOnce) {
  EXPECT_TRUE(provision_faults(deck_of(8, 8, 1, 1)).empty());
  EXPECT_TRUE(provision_faults(deck_of(8, 8, 1.5, 1)).empty());
  Deck deck = deck_of(8, 8, 1, 1.5);
  EXPECT_TRUE(provision_faults(deck).empty());
  deck.schedule.token_budget = 5;
  deck.schedule.staleness = "bounded";
  deck.schedule.granularity = "group";
  deck.generation.zero_spread = "resample";
  deck.environment.emplace();
  const std::vector<Fault> faults = provision_faults(deck);
  ASSERT_EQ(faults.size(), 5u);
  const char* const named[] = {"token_budget", "staleness = \"bounded\"", "granularity = \"group\"", "[environment]",
                               "zero_spread"};
  for (std::size_t i = 0; i < faults.size(); ++i) {
    EXPECT_NE(faults[i].found.find("[schedule] over_provision_rollouts = 1.5"), std::string::npos) << faults[i].found;
    EXPECT_NE(faults[i].found.find(named[i]), std::string::npos) << faults[i].found;
  }
  deck.schedule.over_provision_problems = deck.schedule.over_provision_rollouts = 1;
  EXPECT_TRUE(provision_faults(deck).empty()) << "off";
  Deck answers = deck_of(8, 8, 2, 1);
  answers.algorithm.name = "dpo";
  ASSERT_EQ(provision_faults(answers).size(), 1u);
  EXPECT_NE(provision_faults(answers)[0].found.find("answers of a file"), std::string::npos);
  EXPECT_EQ(provision_faults(deck_of(1 << 20, 2, 2, 1)).size(), 1u) << "more slots than an id can tell";
  EXPECT_EQ(provision_faults(deck_of(1, 1 << 14, 1, 2)).size(), 1u) << "more members than an id can tell";
}

}  // namespace
}  // namespace maxplus
