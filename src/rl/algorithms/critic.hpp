#pragma once
// What rules with a critic add: a token's advantage and the value's target by generalised advantage estimation
// (gae.hpp), and the loss of the value.
//
// Notation, for trainable token t of a rollout with T of them: V the critic's value of the state in which t was drawn,
// now; V_old before the iteration's first update; R the target.
//   reward of a token = - kl_t (a KL in the reward, if asked) + the rollout's reward at its last trainable token
//   R = GAE with target_lambda + V_old
//   value term = 1/2 max((V - R)^2, (V_old + clip(V - V_old, -e, e) - R)^2), e = value_clip; without: 1/2 (V - R)^2
// A rollout that was cut at a limit goes on with the value of its last trainable token. With lambda_length = a the
// policy's lambda is 1 - 1/(a T) of each rollout, at least 0 (VAPO: Yue et al. 2025, arXiv 2504.05118).

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rl/algorithms/advantage.hpp"
#include "rl/algorithms/aggregation.hpp"

namespace maxplus {

struct CriticRule {
  double gamma = 1;
  double lambda = 1;                    // of the policy's advantages
  std::optional<double> lambda_length;  // instead of it
  double target_lambda = 1;
  std::optional<double> value_clip = 0.5;  // absent: the value is not clipped
  double value_coefficient = 0.5;          // of the value's loss on a trunk that it shares with the policy

  double lambda_of(std::int64_t trainable_tokens) const;
  std::string describe_advantage() const;
  std::string describe_loss() const;
};

// A list a rollout, a response token each; 0 at tokens that are not trainable and in rollouts that do not count.
struct CriticEstimate {
  std::vector<std::vector<double>> advantage, value_target;
};
// Advantages are whitened over the batch where `advantage` has Spread::tokens.
CriticEstimate critic_estimate(std::span<const JudgedRollout> rollouts, const CriticRule& rule,
                               const AdvantageRule& advantage);

// A response token each.
struct DoubleValueTerms {
  std::span<const double> value, old_value, target;
  std::span<const std::uint8_t> trainable;
};
struct DoubleValueLoss {
  double loss = 0;  // divided by the step's denominator, without value_coefficient
  std::int64_t tokens = 0, clipped = 0;
  std::vector<double> d_value;
};
DoubleValueLoss value_loss(const DoubleValueTerms& terms, const StepStatistics& statistics, const CriticRule& rule,
                           const Aggregation& aggregation);

}  // namespace maxplus
