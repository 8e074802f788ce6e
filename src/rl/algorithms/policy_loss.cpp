#include "rl/algorithms/policy_loss.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/error.hpp"
#include "rl/algorithms/cispo.hpp"
#include "rl/algorithms/clipped_policy.hpp"
#include "rl/algorithms/m2po.hpp"
#include "rl/algorithms/opmd.hpp"
#include "rl/algorithms/ratio.hpp"
#include "rl/algorithms/reinforce.hpp"
#include "rl/algorithms/sapo.hpp"

namespace maxplus {

namespace {

TokenTerm term_of(const TokenPoint& point, const PolicyRule& rule) {
  switch (rule.objective) {
    case Objective::clipped_ratio:
      return clipped_ratio_term(point, rule.clip_low.value_or(1), rule.clip_high, rule.dual_clip);
    case Objective::log_prob: return log_prob_term(point);
    case Objective::truncated_weight: return truncated_weight_term(point, rule.clip_low, rule.clip_high);
    case Objective::soft_gate: return soft_gate_term(point, rule.sapo_tau_positive, rule.sapo_tau_negative);
    case Objective::plain_ratio: return plain_ratio_term(point);
    case Objective::anchored: return anchored_term(point, rule.opmd_tau);
  }
  MAXPLUS_REQUIRE(false, "unknown objective");
}

void check_lengths(const DoubleTerms& terms, const PolicyRule& rule) {
  const std::size_t tokens = terms.trainable.size();
  for (const std::size_t other : {terms.log_prob.size(), terms.old_log_prob.size(), terms.advantage.size()}) {
    MAXPLUS_REQUIRE(other == tokens, fmt::format("{} values for {} response tokens", other, tokens));
  }
  MAXPLUS_REQUIRE(
      terms.reference_log_prob.size() == tokens || (terms.reference_log_prob.empty() && rule.kl == KlEstimator::none),
      "a KL term needs the reference's log-probabilities");
  MAXPLUS_REQUIRE(terms.entropy.size() == tokens || (terms.entropy.empty() && rule.entropy_coefficient == 0),
                  "an entropy term needs entropies");
}

void add_metrics(const DoubleTerms& terms, double anchor, std::size_t t, TokenLoss& sums) {
  const double ratio = ratio_of(terms.log_prob[t] - anchor).value;
  sums.ratio_min = sums.tokens == 0 ? ratio : std::min(sums.ratio_min, ratio);
  sums.ratio_max = sums.tokens == 0 ? ratio : std::max(sums.ratio_max, ratio);
  sums.ratio_sum += ratio;
  const double since_drawn = terms.log_prob[t] - terms.old_log_prob[t];
  const double importance = ratio_of(since_drawn).value;
  sums.importance_sum += importance;
  sums.importance_square_sum += importance * importance;
  sums.importance_max = std::max(sums.importance_max, importance);
  sums.kl_old_sum += kl_term(KlEstimator::k3, terms.log_prob[t], terms.old_log_prob[t]).value;
  if (!terms.reference_log_prob.empty()) {
    sums.kl_reference_sum += kl_term(KlEstimator::k3, terms.log_prob[t], terms.reference_log_prob[t]).value;
  }
  if (!terms.entropy.empty()) sums.entropy_sum += terms.entropy[t];
  sums.gap_max = std::max(sums.gap_max, std::abs(since_drawn));
  sums.tokens += 1;
}

std::int64_t count_trainable(std::span<const std::uint8_t> trainable) {
  return std::count_if(trainable.begin(), trainable.end(), [](std::uint8_t x) { return x != 0; });
}

// The log-ratio that the tokens of a sequence share; its derivative by each of their log-probabilities is 1 / divisor.
struct SharedRatio {
  double log_ratio = 0;
  double divisor = 1;
};

SharedRatio shared_ratio(const DoubleTerms& terms, const std::vector<double>& anchor, RatioLevel level,
                         std::int64_t trainable_tokens) {
  double sum = 0;
  for (std::size_t t = 0; t < terms.trainable.size(); ++t) {
    if (terms.trainable[t] != 0) sum += terms.log_prob[t] - anchor[t];
  }
  const double divisor =
      level == RatioLevel::sequence_sum ? 1.0 : static_cast<double>(std::max<std::int64_t>(trainable_tokens, 1));
  return {sum / divisor, divisor};
}

// Doubles of a span of floats that may be empty.
std::vector<double> widen(std::span<const float> values) { return {values.begin(), values.end()}; }

std::vector<float> narrow(const std::vector<double>& values) {
  std::vector<float> narrowed(values.size());
  std::transform(values.begin(), values.end(), narrowed.begin(), [](double x) { return static_cast<float>(x); });
  return narrowed;
}

}  // namespace

const char* name_of(RatioLevel ratio) {
  constexpr const char* kNames[] = {"token", "sequence", "sequence_sum"};
  return kNames[static_cast<int>(ratio)];
}

std::string PolicyRule::describe_term() const {
  const char* const level = ratio == RatioLevel::token      ? "token"
                            : ratio == RatioLevel::sequence ? "sequence (geometric mean)"
                                                            : "sequence (product)";
  switch (objective) {
    case Objective::clipped_ratio:
      return fmt::format("-min(r A, clip(r, 1 - {}, 1 + {}) A), r of the {}{}", clip_low.value_or(1), clip_high, level,
                         dual_clip ? fmt::format(", not below {} A for A < 0", *dual_clip) : "");
    case Objective::log_prob: return "-A lp";
    case Objective::truncated_weight:
      return fmt::format("-W A lp, W = clip(r, {}, 1 + {}) held constant, r of the {}",
                         clip_low ? fmt::format("1 - {}", *clip_low) : "0", clip_high, level);
    case Objective::soft_gate:
      return fmt::format("-(4 / tau) sigmoid(tau (r - 1)) A, tau = {} for A > 0, else {}, r of the {}",
                         sapo_tau_positive, sapo_tau_negative, level);
    case Objective::plain_ratio: return fmt::format("-r A, r of the {}", level);
    case Objective::anchored:
      return fmt::format("-A lp + {} / 2 (sum of lp - old over the rollout)^2 / its tokens", opmd_tau);
  }
  MAXPLUS_REQUIRE(false, "unknown objective");
}

DoubleLoss policy_loss(const DoubleTerms& terms, const StepStatistics& statistics, const PolicyRule& rule) {
  check_lengths(terms, rule);
  const std::size_t tokens = terms.trainable.size();
  const std::int64_t trainable_tokens = count_trainable(terms.trainable);
  const double denominator = rule.aggregation.denominator(statistics, trainable_tokens);
  const ImportanceTerms importance = importance_terms(terms, statistics, rule.importance);
  const bool of_sequence = rule.ratio != RatioLevel::token;
  const SharedRatio shared =
      of_sequence ? shared_ratio(terms, importance.anchor, rule.ratio, trainable_tokens) : SharedRatio{};

  DoubleLoss result;
  result.d_log_prob.assign(tokens, 0.0);
  result.d_entropy.assign(tokens, 0.0);
  result.sums.importance_weighed = rule.importance.proximal == Proximal::behaviour ? 0 : trainable_tokens;
  result.sums.importance_truncated = importance.truncated;
  result.sums.importance_masked = importance.masked;
  const double positive = terms.correct && rule.positive_coefficient != 0
                              ? rule.positive_coefficient / std::max(statistics.positive_tokens, 1.0)
                              : 0.0;
  double policy_sum = 0, kl_sum = 0, positive_sum = 0, shared_slope = 0;
  for (std::size_t t = 0; t < tokens; ++t) {
    if (terms.trainable[t] == 0) continue;
    add_metrics(terms, importance.anchor[t], t, result.sums);
    const double weight = importance.weight[t];
    const TokenTerm term =
        term_of({terms.log_prob[t], of_sequence ? shared.log_ratio : terms.log_prob[t] - importance.anchor[t],
                 terms.advantage[t], static_cast<double>(trainable_tokens)},
                rule);
    policy_sum += weight * term.value;
    result.sums.clipped_low += term.side == ClipSide::low ? 1 : 0;
    result.sums.clipped_high += term.side == ClipSide::high ? 1 : 0;
    result.d_log_prob[t] = weight * term.by_log_prob;
    (of_sequence ? shared_slope : result.d_log_prob[t]) += weight * term.by_log_ratio;
    if (rule.kl != KlEstimator::none) {
      const KlTerm kl = kl_term(rule.kl, terms.log_prob[t], terms.reference_log_prob[t]);
      kl_sum += kl.value;
      result.d_log_prob[t] += rule.kl_coefficient * kl.slope;
    }
    positive_sum += terms.log_prob[t];
    result.d_entropy[t] = rule.entropy_coefficient == 0 ? 0.0 : -rule.entropy_coefficient / denominator;
  }
  for (std::size_t t = 0; t < tokens; ++t) {
    if (terms.trainable[t] != 0)
      result.d_log_prob[t] = (result.d_log_prob[t] + shared_slope / shared.divisor) / denominator - positive;
  }
  result.sums.policy = policy_sum / denominator;
  result.sums.kl = kl_sum / denominator;
  result.sums.loss = result.sums.policy + rule.kl_coefficient * result.sums.kl -
                     rule.entropy_coefficient * (result.sums.entropy_sum / denominator) - positive * positive_sum;
  return result;
}

TokenLoss token_metrics(const TokenTerms& terms) {
  const std::vector<double> log_prob = widen(terms.log_prob), entropy = widen(terms.entropy),
                            old_log_prob = terms.old_log_prob.empty() ? log_prob : widen(terms.old_log_prob),
                            reference = widen(terms.reference_log_prob);
  DoubleTerms wide;
  wide.log_prob = log_prob, wide.entropy = entropy, wide.old_log_prob = old_log_prob;
  wide.reference_log_prob = reference;
  TokenLoss sums;
  for (std::size_t t = 0; t < terms.trainable.size(); ++t) {
    if (terms.trainable[t] != 0) add_metrics(wide, old_log_prob[t], t, sums);
  }
  return sums;
}

TokenLoss policy_loss(const TokenTerms& terms, const StepStatistics& statistics, const PolicyRule& rule) {
  const std::vector<double> log_prob = widen(terms.log_prob), entropy = widen(terms.entropy),
                            old_log_prob = widen(terms.old_log_prob), reference = widen(terms.reference_log_prob),
                            advantage = widen(terms.advantage), proximal = widen(terms.proximal_log_prob);
  DoubleLoss wide = policy_loss(DoubleTerms{log_prob, entropy, old_log_prob, reference, advantage, terms.trainable,
                                            proximal, terms.version, terms.policy_version, terms.correct},
                                statistics, rule);
  TokenLoss loss = std::move(wide.sums);
  loss.d_log_prob = narrow(wide.d_log_prob);
  loss.d_entropy = narrow(wide.d_entropy);
  return loss;
}

}  // namespace maxplus
