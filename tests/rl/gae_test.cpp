#include "rl/algorithms/gae.hpp"

#include <cmath>
#include <fstream>

#include <gtest/gtest.h>

#include "rl/algorithm_support.hpp"

namespace maxplus {
namespace {

constexpr double kGaeTolerance = 1e-12;  // stated with the golden values

TEST(Gae, AgreesWithTheGoldenAdvantages) {
  std::ifstream file(std::string(MAXPLUS_TEST_DATA) + "/rl/advantages.jsonl");
  int checked = 0;
  for (std::string line; std::getline(file, line);) {
    const Json c = Json::parse(line);
    if (c["kind"] != "gae") continue;
    SCOPED_TRACE(c["name"].get<std::string>());
    const std::vector<double> reward = c["rewards"], value = c["values"], advantage = c["advantages"],
                              target = c["returns"];
    const double after_last = c["end"] == "truncated" ? c["bootstrap_value"].get<double>() : 0.0;
    const GaeEstimate ours = generalised_advantages(reward, value, std::vector<std::uint8_t>(reward.size(), 1),
                                                    after_last, {c["gamma"], c["lam"]});
    ASSERT_EQ(ours.advantage.size(), advantage.size());
    for (std::size_t t = 0; t < advantage.size(); ++t) {
      EXPECT_NEAR(ours.advantage[t], advantage[t], kGaeTolerance);
      EXPECT_NEAR(ours.value_target[t], target[t], kGaeTolerance);
    }
    ++checked;
  }
  EXPECT_EQ(checked, 7);
}

// Rewards, values and masks of a rollout with holes.
struct Holed {
  std::vector<double> reward, value;
  std::vector<std::uint8_t> trainable;
  explicit Holed(std::size_t tokens) {
    for (std::size_t t = 0; t < tokens; ++t) {
      trainable.push_back(testing_rl::draw(51, t) < 0.7 ? 1 : 0);
      reward.push_back(trainable[t] != 0 ? testing_rl::draw(52, t) - 0.5 : NAN);
      value.push_back(trainable[t] != 0 ? testing_rl::draw(53, t) : NAN);
    }
  }
};

TEST(Gae, SkipsTokensThatAreNotTrainableAsIfTheyWereNotThere) {
  const Holed all(31);
  const GaeEstimate ours = generalised_advantages(all.reward, all.value, all.trainable, 0.3, {0.97, 0.9});
  std::vector<double> reward, value;
  for (std::size_t t = 0; t < 31; ++t) {
    if (all.trainable[t] == 0) continue;
    reward.push_back(all.reward[t]);
    value.push_back(all.value[t]);
  }
  const GaeEstimate dense =
      generalised_advantages(reward, value, std::vector<std::uint8_t>(reward.size(), 1), 0.3, {0.97, 0.9});
  std::size_t next = 0;
  for (std::size_t t = 0; t < 31; ++t) {
    EXPECT_EQ(ours.advantage[t], all.trainable[t] != 0 ? dense.advantage[next] : 0.0);
    EXPECT_EQ(ours.value_target[t], all.trainable[t] != 0 ? dense.value_target[next++] : 0.0);
  }
  EXPECT_LT(next, 31u);
}

TEST(Gae, IsReturnMinusValueWithoutDiscountsAndTheSumOfItsDeltas) {
  const Holed all(31);
  const GaeEstimate plain = generalised_advantages(all.reward, all.value, all.trainable, 0, {1, 1});
  const GaeRule rule{0.9, 0.8};
  const GaeEstimate discounted = generalised_advantages(all.reward, all.value, all.trainable, 0.4, rule);
  for (std::size_t t = 0; t < 31; ++t) {
    if (all.trainable[t] == 0) continue;
    double rewards = 0, sum = 0, factor = 1;
    for (std::size_t s = t; s < 31; ++s) {
      if (all.trainable[s] == 0) continue;
      rewards += all.reward[s];
      std::size_t next = s + 1;
      while (next < 31 && all.trainable[next] == 0) ++next;
      sum += factor * (all.reward[s] + rule.gamma * (next < 31 ? all.value[next] : 0.4) - all.value[s]);
      factor *= rule.gamma * rule.lambda;
    }
    EXPECT_NEAR(plain.advantage[t], rewards - all.value[t], kGaeTolerance);
    EXPECT_NEAR(plain.value_target[t], rewards, kGaeTolerance);
    EXPECT_NEAR(discounted.advantage[t], sum, kGaeTolerance);
  }
}

TEST(Gae, TakesNothingFromNothing) {
  EXPECT_TRUE(generalised_advantages({}, {}, {}, 1, {}).advantage.empty());
  const std::vector<double> none = {NAN, NAN};
  const GaeEstimate masked = generalised_advantages(none, none, std::vector<std::uint8_t>{0, 0}, 1, {});
  EXPECT_EQ(masked.advantage, (std::vector<double>{0, 0}));
  EXPECT_EQ(masked.value_target, (std::vector<double>{0, 0}));
}

}  // namespace
}  // namespace maxplus
