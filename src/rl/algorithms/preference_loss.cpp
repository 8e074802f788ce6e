#include "rl/algorithms/preference_loss.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/exact_math.hpp"

namespace maxplus {

namespace {

// 1 - p of an answer that is all but certain: its odds stay finite.
constexpr double kLeastDoubt = 1e-12;

double logistic(double x) {
  const double e = exact_exp(-std::abs(x));
  return x >= 0 ? 1 / (1 + e) : e / (1 + e);
}

double log_logistic(double x) { return std::min(x, 0.0) - exact_log(1 + exact_exp(-std::abs(x))); }

double length_of(const AnswerSum& answer) { return static_cast<double>(std::max<std::int64_t>(answer.tokens, 1)); }

struct Odds {
  double log = 0;
  double slope = 0;  // by the mean log-probability
};

Odds odds_of(double mean) {
  const double doubt = std::max(1 - exact_exp(mean), kLeastDoubt);
  return {mean - exact_log(doubt), doubt > kLeastDoubt ? 1 / doubt : 1.0};
}

PairLoss dpo_loss(const AnswerSum& chosen, const AnswerSum& rejected, const PreferenceRule& rule) {
  const double d = chosen.sum - rejected.sum, e = rule.label_smoothing;
  const double slope = rule.beta * (e * logistic(rule.beta * d) - (1 - e) * logistic(-rule.beta * d));
  return {-(1 - e) * log_logistic(rule.beta * d) - e * log_logistic(-rule.beta * d), slope, -slope, d};
}

PairLoss ipo_loss(const AnswerSum& chosen, const AnswerSum& rejected, const PreferenceRule& rule) {
  const double of_chosen = rule.mean_over_tokens ? length_of(chosen) : 1.0,
               of_rejected = rule.mean_over_tokens ? length_of(rejected) : 1.0;
  const double d = chosen.sum / of_chosen - rejected.sum / of_rejected;
  const double miss = d - 1 / (2 * rule.beta);
  return {miss * miss, 2 * miss / of_chosen, -2 * miss / of_rejected, d};
}

PairLoss simpo_loss(const AnswerSum& chosen, const AnswerSum& rejected, const PreferenceRule& rule) {
  const double d = chosen.sum / length_of(chosen) - rejected.sum / length_of(rejected);
  const double x = rule.beta * d - rule.margin;
  const double slope = -rule.beta * logistic(-x);
  return {-log_logistic(x), slope / length_of(chosen), -slope / length_of(rejected), d};
}

PairLoss orpo_loss(const AnswerSum& chosen, const AnswerSum& rejected, const PreferenceRule& rule) {
  const double mean = chosen.sum / length_of(chosen);
  const Odds of_chosen = odds_of(mean), of_rejected = odds_of(rejected.sum / length_of(rejected));
  const double d = of_chosen.log - of_rejected.log;
  const double slope = -rule.beta * logistic(-d);
  return {-mean - rule.beta * log_logistic(d), (slope * of_chosen.slope - 1) / length_of(chosen),
          -slope * of_rejected.slope / length_of(rejected), d};
}

PairLoss score_loss(const AnswerSum& chosen, const AnswerSum& rejected, const PreferenceRule& rule) {
  const double d = chosen.sum - rejected.sum, x = d - rule.margin, e = rule.label_smoothing;
  const double slope = e * logistic(x) - (1 - e) * logistic(-x);
  return {-(1 - e) * log_logistic(x) - e * log_logistic(-x), slope, -slope, d};
}

}  // namespace

std::string PreferenceRule::describe() const {
  switch (loss) {
    case PreferenceLoss::dpo:
      return label_smoothing == 0
                 ? fmt::format("-log sigmoid({} d), d = difference of the answers' summed log-ratios", beta)
                 : fmt::format(
                       "-(1 - {1}) log sigmoid({0} d) - {1} log sigmoid(-{0} d), d = difference of the answers' "
                       "summed log-ratios",
                       beta, label_smoothing);
    case PreferenceLoss::ipo:
      return fmt::format("(d - 1 / (2 * {}))^2, d = difference of the answers' {} log-ratios", beta,
                         mean_over_tokens ? "mean" : "summed");
    case PreferenceLoss::simpo:
      return fmt::format("-log sigmoid({} d - {}), d = difference of the answers' mean log-probabilities", beta,
                         margin);
    case PreferenceLoss::orpo:
      return fmt::format("-(mean log-probability of the chosen answer) - {} log sigmoid(difference of log-odds)", beta);
    case PreferenceLoss::kto:
      return fmt::format(
          "good: {} (1 - sigmoid({} (s - z))), bad: {} (1 - sigmoid({} (z - s))), s the summed log-ratio", good_weight,
          beta, bad_weight, beta);
    case PreferenceLoss::score:
      return fmt::format("{0}x = difference of the answers' scores{1}",
                         label_smoothing == 0
                             ? "-log sigmoid(x), "
                             : fmt::format("-(1 - {0}) log sigmoid(x) - {0} log sigmoid(-x), ", label_smoothing),
                         margin == 0 ? "" : fmt::format(" - {}", margin));
  }
  MAXPLUS_REQUIRE(false, "unknown preference loss");
}

double worth_of(const AnswerSum& answer, const PreferenceRule& rule) {
  switch (rule.loss) {
    case PreferenceLoss::dpo:
    case PreferenceLoss::kto:
    case PreferenceLoss::score: return answer.sum;
    case PreferenceLoss::ipo: return rule.mean_over_tokens ? answer.sum / length_of(answer) : answer.sum;
    case PreferenceLoss::simpo: return answer.sum / length_of(answer);
    case PreferenceLoss::orpo: return odds_of(answer.sum / length_of(answer)).log;
  }
  MAXPLUS_REQUIRE(false, "unknown preference loss");
}

PairLoss pair_loss(const AnswerSum& chosen, const AnswerSum& rejected, const PreferenceRule& rule) {
  switch (rule.loss) {
    case PreferenceLoss::dpo: return dpo_loss(chosen, rejected, rule);
    case PreferenceLoss::ipo: return ipo_loss(chosen, rejected, rule);
    case PreferenceLoss::simpo: return simpo_loss(chosen, rejected, rule);
    case PreferenceLoss::orpo: return orpo_loss(chosen, rejected, rule);
    case PreferenceLoss::score: return score_loss(chosen, rejected, rule);
    case PreferenceLoss::kto: break;
  }
  MAXPLUS_REQUIRE(false, "kto has no pairs");
}

MarkedLoss marked_loss(const AnswerSum& answer, bool good, double reference_point, const PreferenceRule& rule) {
  const double sign = good ? 1.0 : -1.0, weight = good ? rule.good_weight : rule.bad_weight;
  const double share = logistic(sign * rule.beta * (answer.sum - reference_point));
  return {weight * (1 - share), -weight * sign * rule.beta * share * (1 - share)};
}

}  // namespace maxplus
