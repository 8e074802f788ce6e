#include "rl/algorithms/clipped_policy.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/exact_math.hpp"

namespace maxplus {

namespace {

constexpr double kLogRatioLimit = 20;

double clamp_log(double x) { return std::clamp(x, -kLogRatioLimit, kLogRatioLimit); }
bool inside(double x) { return x > -kLogRatioLimit && x < kLogRatioLimit; }

enum class ClipSide : std::uint8_t { none, low, high };

// -min(r A, clip(r) A) with the second clip for A < 0, and its derivative by r.
struct PolicyTerm {
  double value = 0;
  double slope = 0;
  ClipSide side = ClipSide::none;
};

PolicyTerm policy_term(double ratio, double advantage, const ClippedPolicy& policy) {
  const double clipped = std::min(std::max(ratio, 1 - policy.clip_low), 1 + policy.clip_high);
  const double free_value = ratio * advantage;
  const double clipped_value = clipped * advantage;
  PolicyTerm term{-free_value, -advantage, ClipSide::none};
  if (clipped_value < free_value) term = {-clipped_value, 0, ratio < clipped ? ClipSide::low : ClipSide::high};
  if (policy.dual_clip && advantage < 0 && *policy.dual_clip * advantage > -term.value) {
    term = {-(*policy.dual_clip * advantage), 0, ClipSide::high};
  }
  return term;
}

void check_lengths(std::size_t tokens, std::initializer_list<std::size_t> others) {
  for (const std::size_t other : others) {
    MAXPLUS_REQUIRE(other == tokens, fmt::format("{} values for {} response tokens", other, tokens));
  }
}

void add_metrics(const DoubleTerms& terms, std::size_t t, TokenLoss& sums) {
  const double log_ratio = terms.log_prob[t] - terms.old_log_prob[t];
  const double ratio = exact_exp(clamp_log(log_ratio));
  sums.ratio_min = sums.tokens == 0 ? ratio : std::min(sums.ratio_min, ratio);
  sums.ratio_max = sums.tokens == 0 ? ratio : std::max(sums.ratio_max, ratio);
  sums.ratio_sum += ratio;
  sums.ratio_square_sum += ratio * ratio;
  sums.kl_old_sum += kl_term(KlEstimator::k3, terms.log_prob[t], terms.old_log_prob[t]).value;
  if (!terms.reference_log_prob.empty()) {
    sums.kl_reference_sum += kl_term(KlEstimator::k3, terms.log_prob[t], terms.reference_log_prob[t]).value;
  }
  if (!terms.entropy.empty()) sums.entropy_sum += terms.entropy[t];
  sums.gap_max = std::max(sums.gap_max, std::abs(log_ratio));
  sums.tokens += 1;
}

std::int64_t count_trainable(std::span<const std::uint8_t> trainable) {
  return std::count_if(trainable.begin(), trainable.end(), [](std::uint8_t x) { return x != 0; });
}

double mean_log_ratio(const DoubleTerms& terms, std::int64_t trainable_tokens) {
  double sum = 0;
  for (std::size_t t = 0; t < terms.trainable.size(); ++t) {
    if (terms.trainable[t] != 0) sum += terms.log_prob[t] - terms.old_log_prob[t];
  }
  return sum / static_cast<double>(std::max<std::int64_t>(trainable_tokens, 1));
}

// Doubles of a span of floats that may be empty.
std::vector<double> widen(std::span<const float> values) { return {values.begin(), values.end()}; }

std::vector<float> narrow(const std::vector<double>& values) {
  std::vector<float> narrowed(values.size());
  std::transform(values.begin(), values.end(), narrowed.begin(), [](double x) { return static_cast<float>(x); });
  return narrowed;
}

}  // namespace

KlEstimator kl_estimator_of(const std::string& name) {
  if (name == "none") return KlEstimator::none;
  if (name == "k1") return KlEstimator::k1;
  if (name == "k2") return KlEstimator::k2;
  if (name == "k3") return KlEstimator::k3;
  throw Error(ExitCode::config,
              Fault{"", fmt::format("[algorithm] kl = '{}' is unknown", name), "none, k1, k2 or k3", ""});
}

KlTerm kl_term(KlEstimator estimator, double log_prob, double reference_log_prob) {
  const double d = log_prob - reference_log_prob;
  switch (estimator) {
    case KlEstimator::none: return {};
    case KlEstimator::k1: return {d, 1};
    case KlEstimator::k2: return {0.5 * d * d, d};
    case KlEstimator::k3: {
      const double c = clamp_log(d);
      const double inverse = exact_exp(-c);
      // Rounding may leave the sum just below 0, which k3 never is.
      return {std::max(inverse + c - 1, 0.0), inside(d) ? 1 - inverse : 0.0};
    }
  }
  MAXPLUS_REQUIRE(false, "unknown KL estimator");
}

DoubleLoss clipped_policy_loss(const DoubleTerms& terms, const StepStatistics& statistics,
                               const ClippedPolicy& policy) {
  const std::size_t tokens = terms.trainable.size();
  check_lengths(tokens, {terms.log_prob.size(), terms.old_log_prob.size(), terms.advantage.size()});
  MAXPLUS_REQUIRE(
      terms.reference_log_prob.size() == tokens || (terms.reference_log_prob.empty() && policy.kl == KlEstimator::none),
      "a KL term needs the reference's log-probabilities");
  MAXPLUS_REQUIRE(terms.entropy.size() == tokens || (terms.entropy.empty() && policy.entropy_coefficient == 0),
                  "an entropy term needs entropies");
  const std::int64_t trainable_tokens = count_trainable(terms.trainable);
  const double denominator = policy.aggregation.denominator(statistics, trainable_tokens);
  const bool of_sequence = policy.ratio == RatioLevel::sequence;
  const double shared_log_ratio = of_sequence ? mean_log_ratio(terms, trainable_tokens) : 0.0;
  const double shared_ratio = exact_exp(clamp_log(shared_log_ratio));

  DoubleLoss result;
  result.d_log_prob.assign(tokens, 0.0);
  result.d_entropy.assign(tokens, 0.0);
  double policy_sum = 0, kl_sum = 0, shared_slope = 0;
  for (std::size_t t = 0; t < tokens; ++t) {
    if (terms.trainable[t] == 0) continue;
    add_metrics(terms, t, result.sums);
    const double log_ratio = of_sequence ? shared_log_ratio : terms.log_prob[t] - terms.old_log_prob[t];
    const double ratio = of_sequence ? shared_ratio : exact_exp(clamp_log(log_ratio));
    const PolicyTerm term = policy_term(ratio, terms.advantage[t], policy);
    policy_sum += term.value;
    result.sums.clipped_low += term.side == ClipSide::low ? 1 : 0;
    result.sums.clipped_high += term.side == ClipSide::high ? 1 : 0;
    const double slope = inside(log_ratio) ? term.slope * ratio : 0.0;
    if (of_sequence) shared_slope += slope;
    if (!of_sequence) result.d_log_prob[t] = slope;
    if (policy.kl != KlEstimator::none) {
      const KlTerm kl = kl_term(policy.kl, terms.log_prob[t], terms.reference_log_prob[t]);
      kl_sum += kl.value;
      result.d_log_prob[t] += policy.kl_coefficient * kl.slope;
    }
    result.d_entropy[t] = policy.entropy_coefficient == 0 ? 0.0 : -policy.entropy_coefficient / denominator;
  }
  const double shared =
      of_sequence ? shared_slope / static_cast<double>(std::max<std::int64_t>(trainable_tokens, 1)) : 0.0;
  for (std::size_t t = 0; t < tokens; ++t) {
    if (terms.trainable[t] != 0) result.d_log_prob[t] = (result.d_log_prob[t] + shared) / denominator;
  }
  result.sums.policy = policy_sum / denominator;
  result.sums.kl = kl_sum / denominator;
  result.sums.loss = result.sums.policy + policy.kl_coefficient * result.sums.kl -
                     policy.entropy_coefficient * (result.sums.entropy_sum / denominator);
  return result;
}

TokenLoss clipped_policy_loss(const TokenTerms& terms, const StepStatistics& statistics, const ClippedPolicy& policy) {
  const std::vector<double> log_prob = widen(terms.log_prob), entropy = widen(terms.entropy),
                            old_log_prob = widen(terms.old_log_prob), reference = widen(terms.reference_log_prob),
                            advantage = widen(terms.advantage);
  DoubleLoss wide = clipped_policy_loss(
      DoubleTerms{log_prob, entropy, old_log_prob, reference, advantage, terms.trainable}, statistics, policy);
  TokenLoss loss = std::move(wide.sums);
  loss.d_log_prob = narrow(wide.d_log_prob);
  loss.d_entropy = narrow(wide.d_entropy);
  return loss;
}

}  // namespace maxplus
