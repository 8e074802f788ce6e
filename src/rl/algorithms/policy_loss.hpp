#pragma once
// The policy loss of one rollout with its KL and entropy terms, and its closed-form gradient, in double: the frame that
// all rules with a sampled policy share.
//
// Notation, for trainable token t of a rollout: lp, anchor, ref log-probabilities now, of the policy that ratios are
// taken against (importance.hpp), of the reference; A the advantage; l = lp - anchor, or of the sequence: the mean or
// the sum of that over the rollout's trainable tokens; x the rule's term (token_objective.hpp); w the importance
// weight.
//   loss = (sum w x + kl_coefficient sum kl - entropy_coefficient sum entropy) / denominator
//          - positive_coefficient [rollout correct] sum lp / tokens of the step's correct rollouts
// Tokens that are not trainable are skipped, not multiplied by 0: NaN there has no influence. On policy r is exactly 1.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rl/algorithms/aggregation.hpp"
#include "rl/algorithms/divergence.hpp"
#include "rl/algorithms/importance.hpp"
#include "rl/algorithms/token_objective.hpp"

namespace maxplus {

enum class RatioLevel : std::uint8_t { token, sequence, sequence_sum };
const char* name_of(RatioLevel ratio);

struct PolicyRule {
  Objective objective = Objective::clipped_ratio;
  RatioLevel ratio = RatioLevel::token;
  std::optional<double> clip_low = 0.2;  // truncated_weight: absent is no lower bound
  double clip_high = 0.2;
  std::optional<double> dual_clip;
  double sapo_tau_positive = 1.0, sapo_tau_negative = 1.05;
  double opmd_tau = 1;
  ImportanceRule importance;
  double m2_threshold = 0.04;          // of ImportanceMask::second_moment
  KlEstimator kl = KlEstimator::none;  // in the loss
  double kl_coefficient = 0;
  double entropy_coefficient = 0;
  double positive_coefficient = 0;  // of the likelihood of rollouts that were judged correct
  Aggregation aggregation;

  std::string describe_term() const;
};

// A response token each; entropy, reference, proximal and version may be empty where no term needs them.
struct DoubleTerms {
  std::span<const double> log_prob, entropy, old_log_prob, reference_log_prob, advantage;
  std::span<const std::uint8_t> trainable;
  std::span<const double> proximal_log_prob = {};
  std::span<const std::int32_t> version = {};
  std::int64_t policy_version = 0;
  bool correct = false;
};

struct DoubleLoss {
  TokenLoss sums;  // all but the two gradients
  std::vector<double> d_log_prob, d_entropy;
};

DoubleLoss policy_loss(const DoubleTerms& terms, const StepStatistics& statistics, const PolicyRule& rule);

// What metrics want to know of a rollout's trainable tokens, whatever the rule; the ratio is to the sampler's record,
// and 1 where there is none.
TokenLoss token_metrics(const TokenTerms& terms);

// The loss on the spans of an Algorithm; gradients are rounded to float at the end.
TokenLoss policy_loss(const TokenTerms& terms, const StepStatistics& statistics, const PolicyRule& rule);

}  // namespace maxplus
