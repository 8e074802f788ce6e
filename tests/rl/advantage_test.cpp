#include "rl/algorithms/advantage.hpp"

#include <cmath>
#include <fstream>

#include <gtest/gtest.h>

#include "rl/algorithm_support.hpp"

namespace maxplus {
namespace {

using testing_rl::settings_of;
using testing_rl::table_of;

constexpr double kAdvantageTolerance = 1e-12;  // stated with the golden values

const std::vector<std::uint8_t> kOneToken = {1};

// A token each, so that a rollout's advantage is a number.
std::vector<double> of_rewards(const std::string& name, const std::vector<std::vector<double>>& groups) {
  std::vector<JudgedRollout> rollouts;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (const double reward : groups[g]) rollouts.push_back({static_cast<std::int64_t>(g), reward, true, kOneToken});
  }
  std::vector<double> values;
  for (const std::vector<double>& advantage : token_advantages(rollouts, settings_of(table_of(name)).advantage))
    values.push_back(advantage.at(0));
  return values;
}

std::vector<double> drawn_rewards(std::uint64_t seed, int count) {
  std::vector<double> rewards;
  for (int i = 0; i < count; ++i) rewards.push_back(testing_rl::draw(seed, static_cast<std::uint64_t>(i)));
  return rewards;
}

TEST(Advantage, OfReinforcePlusPlusAgreesWithTheGoldenCases) {
  std::ifstream file(std::string(MAXPLUS_TEST_DATA) + "/rl/losses.jsonl");
  int checked = 0;
  for (std::string line; std::getline(file, line);) {
    const Json c = Json::parse(line);
    if (c["config"]["algorithm"] != "reinforce_pp") continue;
    SCOPED_TRACE(c["name"].get<std::string>());
    AdvantageRule rule = settings_of(table_of("reinforce_pp")).advantage;
    EXPECT_EQ(rule.baseline.epsilon, c["config"]["advantage_eps"].get<double>());
    const std::vector<std::size_t> offset = c["offsets"];
    const std::vector<std::uint8_t> mask = c["mask"];
    std::vector<JudgedRollout> rollouts;
    for (std::size_t i = 0; i + 1 < offset.size(); ++i) {
      JudgedRollout rollout;
      rollout.group = static_cast<std::int64_t>(i);
      rollout.reward = c["reward_per_sequence"][i];
      rollout.trainable = std::span(mask).subspan(offset[i], offset[i + 1] - offset[i]);
      for (std::size_t t = offset[i]; t < offset[i + 1]; ++t) {
        rollout.kl.push_back(c["config"]["kl_coef"].get<double>() *
                             (c["logp_old"][t].get<double>() - c["logp_ref"][t].get<double>()));
      }
      rollouts.push_back(rollout);
    }
    const auto compare = [&](const char* key) {
      std::vector<double> flat;
      for (const std::vector<double>& values : token_advantages(rollouts, rule))
        flat.insert(flat.end(), values.begin(), values.end());
      ASSERT_EQ(flat.size(), mask.size());
      for (std::size_t t = 0; t < flat.size(); ++t) {
        if (mask[t] != 0) {
          EXPECT_NEAR(flat[t], c[key][t].get<double>(), kAdvantageTolerance) << key << " " << t;
        } else {
          EXPECT_EQ(flat[t], 0.0);
        }
      }
    };
    compare("advantage");
    rule.baseline.spread = Spread::none;
    compare("advantage_before_normalisation");
    ++checked;
  }
  EXPECT_EQ(checked, 4);
}

TEST(Advantage, OfReinforcePlusPlusDoesNotChangeUnderAffineMapsOfTheRewards) {
  std::vector<double> rewards = drawn_rewards(61, 9), mapped;
  for (const double reward : rewards)
    mapped.push_back(1000 * reward - 400);  // large: the epsilon 1e-8 is felt by small ones
  for (double& reward : rewards) reward *= 100;
  const auto a = of_rewards("reinforce_pp", {rewards}), b = of_rewards("reinforce_pp", {mapped});
  for (std::size_t i = 0; i < rewards.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-10);
}

TEST(Advantage, OfMaxrlIsThatOfGrpoTimesStdOverMean) {
  const std::vector<double> rewards = drawn_rewards(62, 7);
  BaselineRule grpo;
  grpo.epsilon = 0;
  const auto compared =
      group_advantages(rewards, std::vector<std::int64_t>(7, 1), std::vector<std::uint8_t>(7, 1), grpo);
  const auto maxrl = of_rewards("maxrl", {rewards});
  double mean = 0, squares = 0;
  for (const double reward : rewards) mean += reward / 7;
  for (const double reward : rewards) squares += (reward - mean) * (reward - mean);
  for (std::size_t i = 0; i < 7; ++i)
    EXPECT_NEAR(maxrl[i], compared[i] * std::sqrt(squares / 6) / mean, kAdvantageTolerance);
}

TEST(Advantage, OfMaxrlIsZeroWithoutASuccessToAverageOver) {
  EXPECT_EQ(of_rewards("maxrl", {{0, 0, 0}, {-1, 1, -1}, {1, 0, 0, 0}}),
            (std::vector<double>{0, 0, 0, 0, 0, 0, 3, -1, -1, -1}));
}

TEST(Advantage, OfRlooIsThatOfDrGrpoTimesKOverKMinusOneAndOpmdIsDrGrpos) {
  const std::vector<double> rewards = drawn_rewards(63, 5);
  const auto mean = of_rewards("dr_grpo", {rewards, {1, 0}}), others = of_rewards("rloo", {rewards, {1, 0}});
  for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(others[i], mean[i] * 5 / 4, kAdvantageTolerance);
  for (std::size_t i = 5; i < 7; ++i) EXPECT_EQ(others[i], mean[i] * 2);
  EXPECT_EQ(of_rewards("opmd", {rewards, {1, 0}}), mean);
}

TEST(Advantage, OfReinforceIsCentredOnTheBatchAndOfItsNormalisedFormDivided) {
  EXPECT_EQ(of_rewards("reinforce", {{1, 0}, {1, 1}}), (std::vector<double>{0.25, -0.75, 0.25, 0.25}));
  const auto normalised = of_rewards("decoupled_ppo", {{1, 0}, {1, 1}});
  EXPECT_NEAR(normalised[1], -0.75 / (0.5 + 1e-4), kAdvantageTolerance);
}

TEST(Advantage, OfEqualRewardsIsExactlyZeroForEveryRule) {
  for (const std::string& name : recipe_names()) {
    if (name == "remax") continue;
    for (const double value : {0.1, 1.0 / 3, -0.7, 1e30})
      for (const double a : of_rewards(name, {std::vector<double>(7, value), std::vector<double>(3, value)}))
        EXPECT_EQ(a, 0.0) << name;
  }
  // One group without spread beside one with: where the baseline is the group's.
  for (const char* name : {"grpo", "dr_grpo", "rloo", "reinforce_pp_baseline", "maxrl", "opmd"}) {
    const auto values = of_rewards(name, {{0.1, 0.1, 0.1}, {1, 0, 0}});
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(values[i], 0.0) << name;
    EXPECT_NE(values[3], 0.0);
  }
}

TEST(Advantage, OfRemaxIsTheRewardMinusThatOfTheGreedyAnswer) {
  std::vector<JudgedRollout> rollouts(3, {1, 1.0, true, kOneToken, {}, 0.25});
  rollouts[1].reward = 0.25;
  rollouts[2].counts = false;
  const auto values = token_advantages(rollouts, settings_of(table_of("remax")).advantage);
  EXPECT_EQ(values, (std::vector<std::vector<double>>{{0.75}, {0}, {0}}));
}

TEST(Advantage, IsDiscountedFromTheLastTrainableTokenBackwards) {
  const std::vector<std::uint8_t> mask = {1, 0, 1, 1, 0};
  AdvantageRule rule = settings_of(table_of("reinforce_pp")).advantage;
  rule.baseline.spread = Spread::none;
  rule.gamma = 0.5;
  std::vector<JudgedRollout> rollouts = {{1, 8, true, mask, {1, NAN, 2, 4, NAN}}};
  EXPECT_EQ(token_advantages(rollouts, rule).front(), (std::vector<double>{-1, 0, 0, 4, 0}));  // 8 - 4; 2 - 2; 0 - 1
}

}  // namespace
}  // namespace maxplus
