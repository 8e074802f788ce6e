#pragma once
// From rewards to an advantage a token, in double: the one implementation that training and the command `advantage`
// use.
//
// A rollout's reward is compared as group_baseline.hpp says; all its trainable tokens share the result, discounted from
// the last one backwards if gamma < 1. With KlPlacement::tokens the KL of each token is taken away where the token
// stands, so that a token carries what follows it; else its sum is taken from the reward before rewards are compared.
// Whitening (Spread::tokens) comes last.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rl/algorithms/group_baseline.hpp"

namespace maxplus {

// What an estimator sees of a rollout.
struct JudgedRollout {
  std::int64_t group = 0;
  double reward = 0;
  bool counts = true;  // false: left out of every statistic, advantage 0
  std::span<const std::uint8_t> trainable;
  std::vector<double> kl = {};                         // a token, times its coefficient; empty: no KL in the reward
  std::optional<double> greedy_reward = std::nullopt;  // of Baseline::greedy_reward
  std::span<const float> value = {};                   // a critic's, a token
  bool was_cut = false;                                // at a limit: the answer had not ended
};

enum class KlPlacement : std::uint8_t { reward, tokens };

struct AdvantageRule {
  BaselineRule baseline;
  KlPlacement kl = KlPlacement::reward;
  double gamma = 1;

  std::string describe() const;
};

// In place: values of trainable tokens of rollouts that count become (value - mean) / sqrt(variance + epsilon) over the
// batch, exactly 0 where all are equal.
void whiten_tokens(std::span<const JudgedRollout> rollouts, const AdvantageRule& rule,
                   std::vector<std::vector<double>>* values);

// A list a rollout, a response token each; 0 at tokens that are not trainable.
std::vector<std::vector<double>> token_advantages(std::span<const JudgedRollout> rollouts, const AdvantageRule& rule);

}  // namespace maxplus
