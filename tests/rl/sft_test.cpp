#include "rl/algorithms/sft.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "rl/algorithm_support.hpp"

namespace maxplus {
namespace {

TEST(Sft, IsTheWeightedMeanOfNegativeLogProbabilities) {
  const std::vector<std::int32_t> prompt = {1, 2}, response = {3, 4, 5};
  const std::vector<float> weight = {1, 5, 0.5f};
  std::vector<Experience> step = {experience_of_demonstration(prompt, response, weight, 4),
                                  experience_of_demonstration(prompt, response, {}, 5)};
  step[1].rollout.trainable[2] = 0;
  const Sft sft;
  sft.fill_advantages(step);
  EXPECT_EQ(step[0].advantage, weight);
  EXPECT_EQ(step[1].advantage, (std::vector<float>{1, 1, 0}));
  const StepStatistics statistics = sft.prepare(testing_rl::pointers(step));
  EXPECT_DOUBLE_EQ(statistics.tokens, 8.5);
  EXPECT_DOUBLE_EQ(statistics.sequences, 2);
  const std::vector<float> log_prob = {-1, -2, NAN};
  const std::vector<float> first = {-1, -2, -3};
  const TokenLoss a = sft.loss({first, {}, {}, {}, step[0].advantage, step[0].rollout.trainable}, statistics);
  const TokenLoss b = sft.loss({log_prob, {}, {}, {}, step[1].advantage, step[1].rollout.trainable}, statistics);
  EXPECT_DOUBLE_EQ(a.loss + b.loss, (1 * 1 + 5 * 2 + 0.5 * 3 + 1 + 2) / 8.5);
  EXPECT_FLOAT_EQ(a.d_log_prob[1], -5.0f / 8.5f);
  EXPECT_EQ(b.d_log_prob[2], 0.0f);
  EXPECT_EQ(b.tokens, 2);
}

}  // namespace
}  // namespace maxplus
