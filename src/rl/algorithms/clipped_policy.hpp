#pragma once
// The clipped policy loss of one rollout with its KL and entropy terms, and its closed-form gradient, in double.
//
// Notation, for trainable token t of a rollout: lp, old, ref log-probabilities now, when drawn, of the reference; A the
// advantage; l = clamp(lp - old, -20, 20); r = exp(l), or with the ratio of the sequence r = exp(mean of lp - old).
//   x   = -min(r A, clip(r, 1 - clip_low, 1 + clip_high) A);  with dual_clip c and A < 0: x = -max(that min, c A)
//   kl  = k1: d, k2: d^2 / 2, k3: exp(-d) + d - 1, with d = lp - ref (clamped to +-20 in k3)
//   loss = (sum x + kl_coefficient sum kl - entropy_coefficient sum entropy) / denominator
// Tokens that are not trainable are skipped, not multiplied by 0: NaN there has no influence. On policy r is exactly 1.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rl/algorithms/aggregation.hpp"

namespace maxplus {

enum class KlEstimator : std::uint8_t { none, k1, k2, k3 };
enum class RatioLevel : std::uint8_t { token, sequence };

KlEstimator kl_estimator_of(const std::string& name);  // throws Error(ExitCode::config)

struct KlTerm {
  double value = 0;
  double slope = 0;  // by lp
};
KlTerm kl_term(KlEstimator estimator, double log_prob, double reference_log_prob);

struct ClippedPolicy {
  double clip_low = 0.2, clip_high = 0.2;
  std::optional<double> dual_clip;
  RatioLevel ratio = RatioLevel::token;
  KlEstimator kl = KlEstimator::none;  // in the loss
  double kl_coefficient = 0;
  double entropy_coefficient = 0;
  Aggregation aggregation;
};

// A response token each; entropy and reference may be empty where no term needs them.
struct DoubleTerms {
  std::span<const double> log_prob, entropy, old_log_prob, reference_log_prob, advantage;
  std::span<const std::uint8_t> trainable;
};

struct DoubleLoss {
  TokenLoss sums;  // all but the two gradients
  std::vector<double> d_log_prob, d_entropy;
};

DoubleLoss clipped_policy_loss(const DoubleTerms& terms, const StepStatistics& statistics, const ClippedPolicy& policy);

// The same on the spans of an Algorithm; gradients are rounded to float at the end.
TokenLoss clipped_policy_loss(const TokenTerms& terms, const StepStatistics& statistics, const ClippedPolicy& policy);

}  // namespace maxplus
