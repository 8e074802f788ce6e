#include "rl/algorithms/group_baseline.hpp"

#include <cmath>
#include <fstream>

#include <gtest/gtest.h>

#include "rl/algorithm_support.hpp"
#include "rl/algorithms/reward_shaping.hpp"

namespace maxplus {
namespace {

constexpr double kGoldenTolerance = 1e-12;  // stated with the golden values

BaselineRule rule_of(const Json& c) {
  BaselineRule rule;
  const std::string method = c["method"];
  rule.degrees_lost = c["std_ddof"].is_null() ? 1 : c["std_ddof"].get<int>();
  rule.epsilon = c["eps"].is_null() ? 0 : c["eps"].get<double>();
  rule.spread = method == "group_std"                  ? Spread::group
                : method == "mean" || method == "rloo" ? Spread::none
                                                       : Spread::batch;
  rule.baseline = method == "rloo"        ? Baseline::leave_one_out
                  : method == "batch_all" ? Baseline::batch_mean
                                          : Baseline::group_mean;
  return rule;
}

std::vector<double> advantages(const std::vector<std::vector<double>>& groups, const BaselineRule& rule) {
  std::vector<double> reward;
  std::vector<std::int64_t> group;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    reward.insert(reward.end(), groups[g].begin(), groups[g].end());
    group.insert(group.end(), groups[g].size(), static_cast<std::int64_t>(1000 - g));
  }
  return group_advantages(reward, group, std::vector<std::uint8_t>(reward.size(), 1), rule);
}

TEST(GroupBaseline, AgreesWithTheGoldenAdvantages) {
  std::ifstream file(std::string(MAXPLUS_TEST_DATA) + "/rl/advantages.jsonl");
  int checked = 0;
  for (std::string line; std::getline(file, line);) {
    const Json c = Json::parse(line);
    if (c["kind"] != "group") continue;
    SCOPED_TRACE(c["name"].get<std::string>());
    const std::vector<double> ours = advantages(c["groups"], rule_of(c));
    const std::vector<double> expected = c["advantages"];
    ASSERT_EQ(ours.size(), expected.size());
    for (std::size_t i = 0; i < ours.size(); ++i) {
      EXPECT_NEAR(ours[i], expected[i], kGoldenTolerance);
      if (expected[i] == 0) {
        EXPECT_EQ(ours[i], 0.0);
      }
    }
    ++checked;
  }
  EXPECT_EQ(checked, 27);
}

TEST(GroupBaseline, GivesExactlyZeroForEqualRewardsOfAnyValueAndSize) {
  for (int size = 1; size <= 17; ++size) {
    for (const double value : {0.1, 1.0 / 3, 1e-30, -0.7, 1e30, 0.0}) {
      for (const Spread spread : {Spread::none, Spread::group, Spread::batch}) {
        BaselineRule rule;
        rule.spread = spread;
        rule.epsilon = 0;
        const auto a = advantages({std::vector<double>(static_cast<std::size_t>(size), value), {0, 1}}, rule);
        for (int i = 0; i < size; ++i) EXPECT_EQ(a[static_cast<std::size_t>(i)], 0.0);
      }
    }
  }
}

TEST(GroupBaseline, LeavesMembersOutThatDoNotCount) {
  const BaselineRule rule;
  const std::vector<double> reward = {1, NAN, 0, 1, 5};
  const std::vector<std::int64_t> group = {3, 3, 3, 3, 9};
  const auto a = group_advantages(reward, group, std::vector<std::uint8_t>{1, 0, 1, 1, 1}, rule);
  const auto b = advantages({{1, 0, 1}}, rule);
  EXPECT_EQ(a[0], b[0]);
  EXPECT_EQ(a[1], 0.0);
  EXPECT_EQ(a[2], b[1]);
  EXPECT_EQ(a[3], b[2]);
  // a group that shrank to one
  const auto c = group_advantages(std::vector<double>{1, 0}, std::vector<std::int64_t>{3, 3},
                                  std::vector<std::uint8_t>{1, 0}, rule);
  EXPECT_EQ(c, (std::vector<double>{0, 0}));
}

TEST(GroupBaseline, TakesGroupsByTheirIdsAndNotByTheirPlace) {
  const std::vector<double> reward = {1, 5, 0, 7, 1};
  const auto mixed =
      group_advantages(reward, std::vector<std::int64_t>{1, 2, 1, 2, 1}, std::vector<std::uint8_t>(5, 1), {});
  const auto sorted = advantages({{1, 0, 1}, {5, 7}}, {});
  EXPECT_EQ(mixed, (std::vector<double>{sorted[0], sorted[3], sorted[1], sorted[4], sorted[2]}));
}

TEST(GroupBaseline, LeaveOneOutIsTheGroupMeanTimesKOverKMinusOne) {
  std::vector<double> rewards;
  for (std::uint64_t i = 0; i < 7; ++i) rewards.push_back(testing_rl::draw(3, i));
  BaselineRule rule;
  rule.spread = Spread::none;
  const auto mean = advantages({rewards}, rule);
  rule.baseline = Baseline::leave_one_out;
  const auto others = advantages({rewards}, rule);
  for (std::size_t i = 0; i < 7; ++i) EXPECT_NEAR(others[i], mean[i] * 7.0 / 6.0, kGoldenTolerance);
}

TEST(GroupBaseline, DoesNotChangeUnderAffineMapsOfTheRewards) {
  std::vector<double> rewards, mapped;
  for (std::uint64_t i = 0; i < 7; ++i) {
    rewards.push_back(testing_rl::draw(4, i));
    mapped.push_back(2.5 * rewards.back() - 11);
  }
  BaselineRule rule;
  rule.epsilon = 0;
  const auto a = advantages({rewards}, rule), b = advantages({mapped}, rule);
  for (std::size_t i = 0; i < 7; ++i) EXPECT_NEAR(a[i], b[i], 1e-11);  // cancellation of the shift by 11
}

TEST(Overlong, AgreesWithTheGoldenPenalties) {
  std::ifstream file(std::string(MAXPLUS_TEST_DATA) + "/rl/advantages.jsonl");
  int checked = 0;
  for (std::string line; std::getline(file, line);) {
    const Json c = Json::parse(line);
    if (c["kind"] != "overlong") continue;
    for (std::size_t i = 0; i < c["lengths"].size(); ++i) {
      EXPECT_NEAR(overlong_share(c["lengths"][i], c["max_length"], c["cache_length"]), c["penalties"][i].get<double>(),
                  kGoldenTolerance)
          << c["name"] << " length " << c["lengths"][i];
    }
    ++checked;
  }
  EXPECT_EQ(checked, 3);
}

}  // namespace
}  // namespace maxplus
