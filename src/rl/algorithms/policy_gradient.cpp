#include "rl/algorithms/policy_gradient.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "rl/algorithms/m2po.hpp"

namespace maxplus {

Needs PolicyGradient::needs() const {
  Needs needs;
  needs.critic = settings_.critic.has_value();
  needs.reference = settings_.kl.estimator != KlEstimator::none;
  needs.proximal = settings_.policy.importance.proximal == Proximal::recompute;
  needs.greedy_reward = settings_.advantage.baseline.baseline == Baseline::greedy_reward;
  return needs;
}

int PolicyGradient::smallest_group() const {
  const BaselineRule& rule = settings_.advantage.baseline;
  const bool within_group =
      rule.baseline == Baseline::group_mean || rule.baseline == Baseline::leave_one_out || rule.spread == Spread::group;
  return within_group ? 2 : 1;
}

JudgedRollout PolicyGradient::judged(const Experience& experience) const {
  const Rollout& rollout = experience.rollout;
  JudgedRollout judged;
  judged.group = rollout.group;
  judged.trainable = rollout.trainable;
  judged.reward = settings_.shaped(static_cast<double>(experience.assessment.reward),
                                   static_cast<std::int64_t>(rollout.token.size()));
  if (experience.assessment.greedy_reward)
    judged.greedy_reward = static_cast<double>(*experience.assessment.greedy_reward);
  judged.counts = has_baseline(experience);
  judged.value = experience.assessment.value;
  judged.was_cut = rollout.finish != Finish::stopped;
  if (!settings_.kl_in_reward() || !judged.counts) return judged;
  const std::vector<float>& reference = experience.assessment.reference_log_prob;
  MAXPLUS_REQUIRE(reference.size() == rollout.token.size() && rollout.log_prob.size() == rollout.token.size(),
                  "KL in the reward needs the reference's log-probabilities of " + rollout.id.text());
  judged.kl.assign(rollout.token.size(), 0.0);
  for (std::size_t t = 0; t < rollout.token.size(); ++t) {
    if (rollout.trainable[t] == 0) continue;
    judged.kl[t] = settings_.kl_price(static_cast<double>(rollout.log_prob[t]), static_cast<double>(reference[t]));
  }
  return judged;
}

namespace {

std::vector<float> rounded(const std::vector<double>& values) {
  std::vector<float> floats;
  for (const double value : values) floats.push_back(static_cast<float>(value));
  return floats;
}

}  // namespace

void PolicyGradient::fill_advantages(std::span<Experience> whole_groups) const {
  std::vector<JudgedRollout> rollouts;
  for (const Experience& experience : whole_groups) rollouts.push_back(judged(experience));
  if (!settings_.critic) {
    const std::vector<std::vector<double>> advantage = token_advantages(rollouts, settings_.advantage);
    for (std::size_t i = 0; i < whole_groups.size(); ++i) whole_groups[i].advantage = rounded(advantage[i]);
    return;
  }
  const CriticEstimate estimate = critic_estimate(rollouts, *settings_.critic, settings_.advantage);
  for (std::size_t i = 0; i < whole_groups.size(); ++i) {
    whole_groups[i].advantage = rounded(estimate.advantage[i]);
    whole_groups[i].value_target = rounded(estimate.value_target[i]);
  }
}

bool PolicyGradient::has_baseline(const Experience& experience) const {
  return counts(experience.assessment.verdict) &&
         (settings_.advantage.baseline.baseline != Baseline::greedy_reward || experience.assessment.greedy_reward);
}

bool PolicyGradient::takes_part(const Experience& experience) const {
  if (!has_baseline(experience)) return false;
  return !settings_.mask_truncated || experience.rollout.finish == Finish::stopped;
}

StepStatistics PolicyGradient::prepare(std::span<const Experience* const> step) const {
  StepStatistics statistics = count_step(*this, step);
  if (settings_.policy.importance.mask == ImportanceMask::second_moment)
    statistics.largest_square = largest_square_within(step, settings_.policy.m2_threshold);
  return statistics;
}

TokenLoss PolicyGradient::loss(const TokenTerms& terms, const StepStatistics& statistics) const {
  return policy_loss(terms, statistics, settings_.policy);
}

ValueLoss PolicyGradient::value_loss(const ValueTerms& terms, const StepStatistics& statistics) const {
  MAXPLUS_REQUIRE(settings_.critic.has_value(), "this rule has no critic");
  const auto widened = [](std::span<const float> values) { return std::vector<double>(values.begin(), values.end()); };
  const std::vector<double> value = widened(terms.value), old_value = widened(terms.old_value),
                            target = widened(terms.target);
  const DoubleValueLoss wide = maxplus::value_loss(DoubleValueTerms{value, old_value, target, terms.trainable},
                                                   statistics, *settings_.critic, settings_.policy.aggregation);
  return {wide.loss, wide.tokens, wide.clipped, rounded(wide.d_value)};
}

std::optional<double> PolicyGradient::kl_coefficient() const {
  return settings_.kl_controller ? std::optional<double>(settings_.kl.coefficient) : std::nullopt;
}

void PolicyGradient::set_kl_coefficient(double coefficient) {
  settings_.kl.coefficient = coefficient;
  settings_.place_kl();
}

double PolicyGradient::next_kl_coefficient(double divergence, std::int64_t rollouts) const {
  MAXPLUS_REQUIRE(settings_.kl_controller.has_value(), "a controller moves the coefficient");
  return settings_.kl_controller->next(settings_.kl.coefficient, divergence, rollouts);
}

double PolicyGradient::value_coefficient() const { return settings_.critic ? settings_.critic->value_coefficient : 0; }

namespace {

const char* on_or_off(bool on) { return on ? "on" : "off"; }

std::string std_text(const BaselineRule& rule) {
  if (rule.spread == Spread::none) return "none";
  if (rule.spread == Spread::group_mean) return "mean of the group";
  return rule.degrees_lost == 1 ? "n-1" : "n";
}

// The settings as keys and values of a deck, in which a deviation can be named.
std::vector<std::pair<std::string, std::string>> listing(const PolicySettings& s) {
  std::string kl = name_of(s.kl.estimator);
  if (s.kl.estimator != KlEstimator::none) {
    kl +=
        fmt::format(" in the {}, coefficient {}", s.kl.where == KlWhere::reward ? "reward" : "loss", s.kl.coefficient);
  }
  if (s.kl_controller) {
    kl += fmt::format(", which follows a target of {} over {} rollouts", s.kl_controller->target,
                      s.kl_controller->horizon);
  }
  const PolicyRule& p = s.policy;
  std::vector<std::pair<std::string, std::string>> keys;
  if (s.critic) {
    keys = {{"critic", s.critic->describe_advantage()},
            {"value term", s.critic->describe_loss()},
            {"value_coefficient", fmt::format("{}", s.critic->value_coefficient)},
            {"value_iterations", fmt::format("{}", s.value_iterations)},
            {"positive_coefficient", fmt::format("{}", p.positive_coefficient)}};
  }
  const std::vector<std::pair<std::string, std::string>> common = {
      {"policy term", p.describe_term()},
      {"importance weights", p.importance.describe()},
      {"m2_threshold", fmt::format("{}", p.m2_threshold)},
      {"kl", kl},
      {"std", std_text(s.advantage.baseline)},
      {"scope", s.advantage.baseline.spread == Spread::batch ? "batch" : "group"},
      {"epsilon", fmt::format("{}", s.advantage.baseline.epsilon)},
      {"aggregation", p.aggregation.describe()},
      {"dynamic_sampling", on_or_off(s.dynamic_sampling)},
      {"overlong shaping", s.overlong ? fmt::format("limit {}, buffer {}, penalty {}", s.overlong->limit,
                                                    s.overlong->buffer, s.overlong->penalty)
                                      : "off"},
      {"mask_truncated", on_or_off(s.mask_truncated)},
      {"entropy_coefficient", fmt::format("{}", p.entropy_coefficient)}};
  keys.insert(keys.end(), common.begin(), common.end());
  return keys;
}

}  // namespace

std::vector<std::string> PolicyGradient::describe() const {
  const PolicyRule& p = settings_.policy;
  std::vector<std::string> lines;
  lines.push_back(fmt::format("algorithm {} ({})", settings_.name, recipe_.paper));
  if (settings_.critic) {
    const BaselineRule& whitening = settings_.advantage.baseline;
    lines.push_back("advantage = " + settings_.critic->describe_advantage());
    if (whitening.spread == Spread::tokens) {
      lines.push_back(
          fmt::format("advantages are whitened over the batch's trainable tokens: (A - mean) / sqrt(variance + {}), "
                      "variance with {}",
                      whitening.epsilon, whitening.degrees_lost == 1 ? "n - 1" : "n"));
    }
    lines.push_back(fmt::format("value term = {}; times {} on a trunk shared with the policy",
                                settings_.critic->describe_loss(), settings_.critic->value_coefficient));
    if (settings_.value_iterations > 0)
      lines.push_back(fmt::format("in the first {} iterations only the critic learns", settings_.value_iterations));
    if (p.positive_coefficient != 0) {
      lines.push_back(fmt::format("minus {} times the mean log-probability of the tokens of correct rollouts",
                                  p.positive_coefficient));
    }
  } else {
    lines.push_back(fmt::format("advantage = {}; exactly 0 for equal rewards", settings_.advantage.describe()));
  }
  if (settings_.overlong) {
    lines.push_back(fmt::format("reward shaped before advantages: -{} from {} tokens linearly to {}",
                                settings_.overlong->penalty, settings_.overlong->limit - settings_.overlong->buffer,
                                settings_.overlong->limit));
  }
  lines.push_back("policy term = " + p.describe_term());
  lines.push_back(p.importance.describe());
  lines.push_back("aggregation of all terms: " + p.aggregation.describe());
  const auto ours = listing(settings_), theirs = listing(recipe_.settings);
  for (std::size_t i = 0; i < ours.size(); ++i) {
    if (ours[i].second == theirs[i].second) continue;
    lines.push_back(fmt::format("differs from the paper of {}: {} = {} (paper: {})", settings_.name, ours[i].first,
                                ours[i].second, theirs[i].second));
  }
  lines.insert(lines.end(), recipe_.remarks.begin(), recipe_.remarks.end());
  return lines;
}

}  // namespace maxplus
