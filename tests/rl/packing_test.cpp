#include "rl/packing.hpp"

#include <numeric>

#include <gtest/gtest.h>

#include "rl/algorithm_support.hpp"

namespace maxplus {
namespace {

using testing_rl::draw;
using testing_rl::pointers;

// Groups of odd sizes; lengths from 0 up.
std::vector<Experience> step_of(int groups, std::uint64_t seed) {
  std::vector<Experience> step;
  for (int g = 0; g < groups; ++g) {
    const auto u = static_cast<std::uint64_t>(g);
    const int members = 1 + static_cast<int>(draw(seed, 3 * u) * 6);
    const auto prompt = static_cast<std::size_t>(1 + draw(seed, 3 * u + 1) * 9);
    for (int k = 0; k < members; ++k) {
      Experience e = testing_rl::rollout(
          g, 0, static_cast<std::int64_t>(draw(seed + 1, 100 * u + static_cast<std::uint64_t>(k)) * 40), 7);
      e.problem.prompt.assign(prompt, static_cast<std::int32_t>(g));
      for (std::size_t t = 0; t < e.rollout.token.size(); ++t)
        e.rollout.token[t] = static_cast<std::int32_t>(1000 * k + static_cast<int>(t));
      step.push_back(e);
    }
  }
  return step;
}

// The same with a beginning that all prompts share.
std::vector<Experience> step_of(int groups, std::uint64_t seed, std::size_t common) {
  std::vector<Experience> step = step_of(groups, seed);
  for (Experience& e : step) {
    for (std::size_t t = 0; t < common; ++t)
      e.problem.prompt.insert(e.problem.prompt.begin() + static_cast<std::ptrdiff_t>(t),
                              static_cast<std::int32_t>(500 + t));
  }
  return step;
}

constexpr std::size_t kCommon[] = {0, 15, 16, 40};

RolloutList flat(const StepPlan& plan) {
  RolloutList all;
  for (const auto& slice : plan.slice) {
    for (const RolloutList& m : slice) all.insert(all.end(), m.begin(), m.end());
  }
  return all;
}

RolloutList upto(std::size_t n) {
  RolloutList all(n);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

TEST(PlanStep, HoldsEveryRolloutOnceInOrder) {
  for (const int groups : {0, 1, 2, 7, 33}) {
    for (const int slices : {1, 2, 3, 8, 32}) {
      for (const std::int64_t tokens : {1, 37, 200, 100000}) {
        const std::vector<Experience> step = step_of(groups, static_cast<std::uint64_t>(groups));
        const StepPlan plan = plan_step(pointers(step), slices, tokens);
        EXPECT_EQ(plan.slice.size(), static_cast<std::size_t>(slices));
        EXPECT_EQ(flat(plan), upto(step.size()));
      }
    }
  }
}

TEST(PlanStep, KeepsMicroBatchesWithinTheirTokensUnlessARolloutIsLonger) {
  for (const std::size_t common : kCommon) {
    const std::vector<Experience> step = step_of(33, 5, common);
    const auto list = pointers(step);
    for (const std::int64_t tokens : {1, 20, 37, 200}) {
      for (const auto& slice : plan_step(list, 4, tokens).slice) {
        for (const RolloutList& m : slice) {
          EXPECT_FALSE(m.empty());
          EXPECT_TRUE(packed_size(list, m).tokens <= tokens || m.size() == 1);
        }
      }
    }
  }
}

TEST(PlanStep, CutsSlicesOfAboutEqualTokens) {
  const std::vector<Experience> step = step_of(100, 9);
  const auto list = pointers(step);
  const StepPlan plan = plan_step(list, 8, 1 << 30);
  const std::int64_t ideal = packed_size(list, upto(step.size())).tokens / 8;
  for (const auto& slice : plan.slice) {
    ASSERT_EQ(slice.size(), 1u);
    // a quarter of a slice for each of its two cuts, half a rollout and a repeated prompt at each
    EXPECT_NEAR(static_cast<double>(packed_size(list, slice[0]).tokens), static_cast<double>(ideal),
                0.5 * static_cast<double>(ideal) + 60);
  }
}

TEST(PlanStep, MovesACutToTheBoundaryOfAGroupNearby) {
  // Two groups of 4 and 4 rollouts of nearly equal length: the middle lies inside a group by one rollout.
  std::vector<Experience> step;
  for (int i = 0; i < 9; ++i) {
    Experience e = testing_rl::rollout(i < 4 ? 0 : 1, 0, 11, static_cast<std::uint64_t>(i));
    step.push_back(e);
  }
  const StepPlan plan = plan_step(pointers(step), 2, 1 << 30);
  EXPECT_EQ(plan.slice[0], (std::vector<RolloutList>{{0, 1, 2, 3}}));
  EXPECT_EQ(plan.slice[1], (std::vector<RolloutList>{{4, 5, 6, 7, 8}}));
}

TEST(PlanStep, LeavesACutInsideALongGroup) {
  std::vector<Experience> step;
  for (int i = 0; i < 16; ++i) step.push_back(testing_rl::rollout(0, 0, 11, static_cast<std::uint64_t>(i)));
  const StepPlan plan = plan_step(pointers(step), 8, 1 << 30);
  for (std::size_t s = 0; s < 8; ++s) {
    EXPECT_EQ(plan.slice[s].at(0).size(), 2u) << s;
  }
}

TEST(PlanStep, TakesOneRolloutMoreSlicesThanRolloutsAndNone) {
  std::vector<Experience> step = {testing_rl::rollout(0, 0, 5, 1)};
  EXPECT_EQ(flat(plan_step(pointers(step), 8, 4)), upto(1));
  step.push_back(testing_rl::rollout(1, 0, 5, 2));
  step.push_back(testing_rl::rollout(2, 0, 5, 3));
  const StepPlan plan = plan_step(pointers(step), 8, 100);
  std::int64_t empty = 0;
  for (const auto& slice : plan.slice) empty += slice.empty() ? 1 : 0;
  EXPECT_EQ(empty, 5);
  EXPECT_EQ(flat(plan_step({}, 3, 100)), RolloutList{});
}

// The tokens before row + 1 of the trie, from the root.
std::vector<std::int32_t> path(const TokenBatch& batch, std::int32_t row) {
  std::int32_t segment = 0;
  while (batch.offset[static_cast<std::size_t>(segment) + 1] <= row) ++segment;
  std::vector<std::int32_t> tokens(batch.token.begin() + batch.offset[static_cast<std::size_t>(segment)],
                                   batch.token.begin() + row + 1);
  for (std::int32_t parent = batch.parent[static_cast<std::size_t>(segment)]; parent >= 0;
       parent = batch.parent[static_cast<std::size_t>(parent)]) {
    const auto from = batch.token.begin() + batch.offset[static_cast<std::size_t>(parent)];
    tokens.insert(tokens.begin(), from, from + batch.length(parent));
  }
  return tokens;
}

class BuildMicroBatchWithCommon : public testing::TestWithParam<std::size_t> {};

TEST_P(BuildMicroBatchWithCommon, AsksEveryResponseTokenOfTheRowBeforeIt) {
  const std::vector<Experience> step = step_of(9, 21, GetParam());
  const auto list = pointers(step);
  for (const auto& slice : plan_step(list, 3, 150).slice) {
    for (const RolloutList& rollouts : slice) {
      const MicroBatch m = build_micro_batch(list, rollouts);
      EXPECT_EQ((PackedSize{m.batch.tokens(), m.batch.segments(), static_cast<std::int64_t>(m.row.size())}),
                packed_size(list, rollouts));
      EXPECT_TRUE(std::is_sorted(m.row.begin(), m.row.end()));
      std::vector<std::size_t> seen(rollouts.size(), 0);
      for (std::size_t i = 0; i < m.row.size(); ++i) {
        const Experience& e = *list[static_cast<std::size_t>(rollouts[static_cast<std::size_t>(m.place[i].rollout)])];
        const auto t = static_cast<std::size_t>(m.place[i].token);
        EXPECT_EQ(m.target[i], e.rollout.token[t]);
        std::vector<std::int32_t> expected = e.problem.prompt;
        expected.insert(expected.end(), e.rollout.token.begin(), e.rollout.token.begin() + m.place[i].token);
        EXPECT_EQ(path(m.batch, m.row[i]), expected);
        EXPECT_EQ(m.batch.position[static_cast<std::size_t>(m.row[i])], static_cast<std::int32_t>(expected.size()) - 1);
        EXPECT_EQ(seen[static_cast<std::size_t>(m.place[i].rollout)]++, t);
      }
      for (std::size_t k = 0; k < rollouts.size(); ++k) {
        EXPECT_EQ(seen[k], list[static_cast<std::size_t>(rollouts[k])]->rollout.token.size());
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Tokens, BuildMicroBatchWithCommon, testing::ValuesIn(kCommon));

TEST(BuildMicroBatch, KeepsTheCommonBeginningOnce) {
  const std::vector<Experience> step = step_of(9, 21, 40), apart = step_of(9, 21);
  const PackedSize together = packed_size(pointers(step), upto(step.size())),
                   without = packed_size(pointers(apart), upto(apart.size()));
  EXPECT_EQ(together.tokens, without.tokens + 40);
  EXPECT_EQ(together.segments, without.segments + 1);
  // One prompt alone, and a prompt that is the beginning of all others.
  const std::vector<Experience> alone = step_of(1, 3, 40);
  EXPECT_EQ(build_micro_batch(pointers(alone), upto(1)).batch.parent[0], -1);
  EXPECT_EQ(packed_size(pointers(alone), upto(1)).segments, packed_size(pointers(step_of(1, 3)), upto(1)).segments);
  std::vector<Experience> inner = step;
  inner.back().rollout.group = 1000;
  inner.back().problem.prompt.resize(40);
  const MicroBatch m = build_micro_batch(pointers(inner), upto(inner.size()));
  EXPECT_EQ(m.batch.length(0), 39);
}

TEST(BuildMicroBatch, KeepsThePromptOfAGroupOnceAndDoesNotMixPrompts) {
  std::vector<Experience> step = step_of(1, 3);
  step.resize(1);
  step[0].rollout.token = {5, 6, 7};
  step.push_back(step[0]);
  step.push_back(step[0]);
  EXPECT_EQ(build_micro_batch(pointers(step), upto(3)).batch.segments(), 4);
  step[2].problem.prompt.back() += 1;  // recorded rollouts may say so
  EXPECT_EQ(build_micro_batch(pointers(step), upto(3)).batch.segments(), 5);
}

TEST(BuildMicroBatch, SortsValuesByRolloutAndBack) {
  const std::vector<Experience> step = step_of(5, 8);
  const auto list = pointers(step);
  const MicroBatch m = build_micro_batch(list, upto(step.size()));
  std::vector<float> values;
  for (std::size_t i = 0; i < m.row.size(); ++i) values.push_back(static_cast<float>(m.target[i]));
  const auto lists = by_rollout(m, values);
  for (std::size_t k = 0; k < step.size(); ++k) {
    EXPECT_EQ(lists[k], std::vector<float>(step[k].rollout.token.begin(), step[k].rollout.token.end()));
  }
  EXPECT_EQ(by_target(m, lists), values);
}

TEST(PlanStep, CutsBetweenGroupsOnlyWhereTheyMayNotBeCut) {
  for (const int groups : {0, 1, 2, 7, 33}) {
    for (const int slices : {1, 2, 8}) {
      for (const std::int64_t tokens : {1, 37, 200, 100000}) {
        const std::vector<Experience> step = step_of(groups, 5);
        const StepPlan plan = plan_step(pointers(step), slices, tokens, GroupCut::between);
        EXPECT_EQ(flat(plan), upto(step.size()));
        for (const auto& slice : plan.slice) {
          for (const RolloutList& m : slice) {
            const auto group_at = [&](std::int64_t i) { return step[static_cast<std::size_t>(i)].rollout.group; };
            if (m.front() > 0) {
              EXPECT_NE(group_at(m.front() - 1), group_at(m.front()));
            }
            const bool one_group = group_at(m.front()) == group_at(m.back());
            if (!one_group) {
              EXPECT_LE(packed_size(pointers(step), m).tokens, tokens);
            }
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace maxplus
