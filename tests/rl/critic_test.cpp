// Rules with a critic: where rewards stand, what a cut rollout goes on with, lambdas, whitening, the value's loss.
#include "rl/algorithms/critic.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "rl/algorithm_support.hpp"
#include "rl/algorithms/gae.hpp"

namespace maxplus {
namespace {

using testing_rl::draw;
using testing_rl::pointers;
using testing_rl::rollout;
using testing_rl::table_of;
using testing_rl::two_groups;

// Of seven tokens; 2 and 6 are foreign.
Experience holed(Finish finish) {
  Experience e = rollout(1, 0.75f, 7, 5);
  e.rollout.trainable = {1, 1, 0, 1, 1, 1, 0};
  e.assessment.value[2] = e.assessment.value[6] = NAN;
  e.rollout.finish = finish;
  return e;
}

std::unique_ptr<Algorithm> unwhitened(double lambda) {
  AlgorithmTable table = table_of("ppo");
  table.std = "none";
  table.lambda = lambda;
  return make_algorithm(table, 16);
}

TEST(Critic, WithLambdaOneAdvantageIsRewardMinusValueAndTheTargetIsTheReward) {
  std::vector<Experience> step = {holed(Finish::stopped)};
  unwhitened(1)->fill_advantages(step);
  for (std::size_t t = 0; t < 7; ++t) {
    const bool trained = step[0].rollout.trainable[t] != 0;
    EXPECT_NEAR(step[0].advantage[t], trained ? 0.75f - step[0].assessment.value[t] : 0.0f, 1e-7f) << t;
    EXPECT_NEAR(step[0].value_target[t], trained ? 0.75f : 0.0f, 1e-7f) << t;
  }
}

TEST(Critic, LetsARolloutThatWasCutGoOnWithItsLastValue) {
  for (const Finish finish : {Finish::length, Finish::budget}) {
    std::vector<Experience> step = {holed(finish)};
    unwhitened(1)->fill_advantages(step);
    const float last = step[0].assessment.value[5];
    for (const std::size_t t : {0u, 1u, 3u, 4u, 5u}) EXPECT_NEAR(step[0].value_target[t], 0.75f + last, 1e-6f) << t;
  }
}

TEST(Critic, WithLambdaZeroAdvantagesAreStepsFromValueToValue) {
  std::vector<Experience> step = {holed(Finish::stopped)};
  unwhitened(0)->fill_advantages(step);
  const std::vector<float>& v = step[0].assessment.value;
  EXPECT_NEAR(step[0].advantage[1], v[3] - v[1], 1e-7f);  // over the foreign token
  EXPECT_NEAR(step[0].advantage[4], v[5] - v[4], 1e-7f);
  EXPECT_NEAR(step[0].advantage[5], 0.75f - v[5], 1e-7f);
}

TEST(Critic, TakesTheKlOfEachTokenFromTheRewardWhereItStands) {
  AlgorithmTable table = table_of("ppo");
  table.kl = "k1";
  table.kl_coefficient = 0.3;
  table.std = "none";
  const auto algorithm = make_algorithm(table, 16);
  EXPECT_TRUE(algorithm->needs().reference && algorithm->needs().critic);
  std::vector<Experience> step = {holed(Finish::stopped)};
  algorithm->fill_advantages(step);
  float ahead = 0.75f;
  for (const std::size_t t : {5u, 4u, 3u, 1u, 0u}) {
    ahead -= 0.3f * (step[0].rollout.log_prob[t] - step[0].assessment.reference_log_prob[t]);
    EXPECT_NEAR(step[0].value_target[t], ahead, 1e-6f) << t;
  }
}

TEST(Critic, WhitensAdvantagesOverTheBatchButNotTargets) {
  const auto algorithm = make_algorithm(table_of("ppo"), 16);
  std::vector<Experience> step = two_groups(), plain = two_groups();
  algorithm->fill_advantages(step);
  unwhitened(1)->fill_advantages(plain);
  double sum = 0, squares = 0, tokens = 0;
  for (std::size_t i = 0; i < step.size(); ++i) {
    EXPECT_EQ(step[i].value_target, plain[i].value_target);
    for (std::size_t t = 0; t < step[i].advantage.size(); ++t) {
      const double a = static_cast<double>(step[i].advantage[t]);
      if (step[i].rollout.trainable[t] != 0) sum += a, squares += a * a, tokens += 1;
      if (step[i].rollout.trainable[t] == 0) {
        EXPECT_EQ(a, 0.0);
      }
    }
  }
  EXPECT_NEAR(sum / tokens, 0, 1e-6);
  EXPECT_NEAR(squares / (tokens - 1), 1, 1e-5);  // n - 1, as verl has it
}

TEST(Critic, LeavesVerdictsThatDoNotCountAlone) {
  const auto algorithm = make_algorithm(table_of("ppo"), 16);
  std::vector<Experience> step = two_groups();
  step[1].assessment.verdict = Verdict::crashed;
  algorithm->fill_advantages(step);
  EXPECT_FALSE(algorithm->takes_part(step[1]));
  for (std::size_t t = 0; t < step[1].advantage.size(); ++t) {
    EXPECT_EQ(step[1].advantage[t], 0.0f);
    EXPECT_EQ(step[1].value_target[t], 0.0f);
  }
}

TEST(Critic, OfVapoHasALambdaThatGrowsWithTheLengthAndTargetsOfLambdaOne) {
  CriticRule rule;
  rule.lambda_length = 0.05;
  EXPECT_EQ(rule.lambda_of(7), 0.0);  // 1 - 1 / 0.35 is below it
  EXPECT_NEAR(rule.lambda_of(100), 0.8, 1e-12);
  EXPECT_NEAR(rule.lambda_of(8000), 0.9975, 1e-12);
  AlgorithmTable table = table_of("vapo");
  table.std = "none";
  const auto algorithm = make_algorithm(table, 16);
  EXPECT_EQ(algorithm->value_iterations(), 50);
  std::vector<Experience> step = {rollout(1, 1, 61, 9)}, monte_carlo = step;
  algorithm->fill_advantages(step);
  unwhitened(1)->fill_advantages(monte_carlo);
  EXPECT_EQ(step[0].value_target, monte_carlo[0].value_target);
  const Experience& e = step[0];
  std::vector<double> reward(61, 0.0), value(61, 0.0);
  std::int64_t tokens = 0;
  std::size_t last = 0;
  for (std::size_t t = 0; t < 61; ++t) {
    value[t] = static_cast<double>(e.assessment.value[t]);
    if (e.rollout.trainable[t] != 0) ++tokens, last = t;
  }
  reward[last] = 1;
  const GaeEstimate expected =
      generalised_advantages(reward, value, e.rollout.trainable, 0, {1, rule.lambda_of(tokens)});
  EXPECT_GT(rule.lambda_of(tokens), 0.4);
  for (std::size_t t = 0; t < 61; ++t) EXPECT_NEAR(e.advantage[t], expected.advantage[t], 1e-6) << t;
}

TEST(Critic, OfVapoAddsTheLikelihoodOfCorrectRolloutsOnly) {
  AlgorithmTable with = table_of("vapo"), without = with;
  with.positive_coefficient = 0.25;
  without.positive_coefficient = 0;
  const auto a = make_algorithm(with, 16), b = make_algorithm(without, 16);
  std::vector<Experience> step = two_groups();
  a->fill_advantages(step);
  const StepStatistics statistics = a->prepare(pointers(step));
  double tokens = 0;
  for (const Experience& e : step) {
    for (const std::uint8_t m : e.rollout.trainable)
      tokens += e.assessment.verdict == Verdict::correct && m != 0 ? 1 : 0;
  }
  EXPECT_EQ(statistics.positive_tokens, tokens);
  for (const Experience& e : step) {
    const std::vector<float> log_prob = testing_rl::moved(e, 0.5, 3);
    const TokenLoss x = a->loss(testing_rl::terms_of(e, log_prob, log_prob), statistics),
                    y = b->loss(testing_rl::terms_of(e, log_prob, log_prob), statistics);
    const bool correct = e.assessment.verdict == Verdict::correct;
    for (std::size_t t = 0; t < log_prob.size(); ++t) {
      const double added = correct && e.rollout.trainable[t] != 0 ? -0.25 / tokens : 0.0;
      EXPECT_NEAR(x.d_log_prob[t] - y.d_log_prob[t], added, 1e-7);
    }
  }
}

TEST(ValueLoss, HasTheGradientOfFiniteDifferencesAndNoneAtForeignTokens) {
  const Aggregation aggregation;
  StepStatistics statistics;
  statistics.tokens = 17;
  for (const bool clips : {true, false}) {
    CriticRule rule;
    rule.value_clip = clips ? std::optional<double>(0.2) : std::nullopt;
    std::vector<double> value, old_value, target;
    std::vector<std::uint8_t> mask;
    for (std::uint64_t t = 0; t < 31; ++t) {
      mask.push_back(draw(61, t) < 0.7 ? 1 : 0);
      value.push_back(mask[t] != 0 ? draw(62, t) : NAN);
      old_value.push_back(mask[t] != 0 ? draw(63, t) : NAN);
      target.push_back(mask[t] != 0 ? draw(64, t) : NAN);
    }
    const auto of = [&] { return value_loss({value, old_value, target, mask}, statistics, rule, aggregation); };
    const DoubleValueLoss loss = of();
    EXPECT_EQ(loss.clipped > 0, clips);
    constexpr double kStep = 1e-6;
    for (std::size_t t = 0; t < value.size(); ++t) {
      if (mask[t] == 0) {
        EXPECT_EQ(loss.d_value[t], 0.0);
        continue;
      }
      const double before = value[t];
      value[t] = before + kStep;
      const double up = of().loss;
      value[t] = before - kStep;
      const double down = of().loss;
      value[t] = before;
      EXPECT_NEAR((up - down) / (2 * kStep), loss.d_value[t], 1e-9) << t;
    }
  }
}

TEST(ValueLoss, IsThatOfTheUnclippedValueBeforeTheFirstUpdate) {
  const auto algorithm = make_algorithm(table_of("ppo"), 16);
  std::vector<Experience> step = two_groups();
  algorithm->fill_advantages(step);
  const StepStatistics statistics = algorithm->prepare(pointers(step));
  for (const Experience& e : step) {
    const std::vector<float>& v = e.assessment.value;
    const ValueLoss loss = algorithm->value_loss({v, v, e.value_target, e.rollout.trainable}, statistics);
    EXPECT_EQ(loss.clipped, 0);
    for (std::size_t t = 0; t < v.size(); ++t) {
      const double expected = e.rollout.trainable[t] != 0 ? (v[t] - e.value_target[t]) / statistics.tokens : 0.0;
      EXPECT_NEAR(loss.d_value[t], expected, 1e-8);
    }
  }
}

}  // namespace
}  // namespace maxplus
