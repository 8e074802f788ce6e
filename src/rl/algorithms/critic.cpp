#include "rl/algorithms/critic.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"
#include "rl/algorithms/gae.hpp"

namespace maxplus {

namespace {

struct Walk {
  std::vector<double> reward, value;
  std::int64_t tokens = 0;  // trainable ones
  double after_last = 0;
};

Walk walk_of(const JudgedRollout& rollout) {
  const std::size_t length = rollout.trainable.size();
  MAXPLUS_REQUIRE(rollout.value.size() == length, "a critic's value of each response token");
  Walk walk{std::vector<double>(length, 0.0), std::vector<double>(length, 0.0)};
  std::size_t last = length;
  for (std::size_t t = 0; t < length; ++t) {
    if (rollout.trainable[t] == 0) continue;
    walk.value[t] = static_cast<double>(rollout.value[t]);
    if (!rollout.kl.empty()) walk.reward[t] = -rollout.kl[t];
    last = t;
    ++walk.tokens;
  }
  if (last == length) return walk;
  walk.reward[last] += rollout.reward;
  if (rollout.was_cut) walk.after_last = walk.value[last];
  return walk;
}

}  // namespace

double CriticRule::lambda_of(std::int64_t trainable_tokens) const {
  if (!lambda_length) return lambda;
  return std::max(0.0, 1.0 - 1.0 / (*lambda_length * static_cast<double>(std::max<std::int64_t>(trainable_tokens, 1))));
}

std::string CriticRule::describe_advantage() const {
  const std::string of_policy =
      lambda_length ? fmt::format("max(0, 1 - 1 / ({} T)), T the rollout's trainable tokens", *lambda_length)
                    : fmt::format("{}", lambda);
  return fmt::format(
      "GAE of the critic's values, gamma {}, lambda {}; the value's target with lambda {}; the reward stands at the "
      "last "
      "trainable token, a rollout cut at a limit goes on with the value of that token",
      gamma, of_policy, target_lambda);
}

std::string CriticRule::describe_loss() const {
  if (!value_clip) return "1/2 (V - R)^2";
  return fmt::format("1/2 max((V - R)^2, (V_old + clip(V - V_old, -{0}, {0}) - R)^2)", *value_clip);
}

CriticEstimate critic_estimate(std::span<const JudgedRollout> rollouts, const CriticRule& rule,
                               const AdvantageRule& advantage) {
  CriticEstimate estimate;
  for (const JudgedRollout& rollout : rollouts) {
    if (!rollout.counts) {
      estimate.advantage.emplace_back(rollout.trainable.size(), 0.0);
      estimate.value_target.emplace_back(rollout.trainable.size(), 0.0);
      continue;
    }
    const Walk walk = walk_of(rollout);
    const GaeRule of_policy{rule.gamma, rule.lambda_of(walk.tokens)}, of_value{rule.gamma, rule.target_lambda};
    estimate.advantage.push_back(
        generalised_advantages(walk.reward, walk.value, rollout.trainable, walk.after_last, of_policy).advantage);
    estimate.value_target.push_back(
        generalised_advantages(walk.reward, walk.value, rollout.trainable, walk.after_last, of_value).value_target);
  }
  if (advantage.baseline.spread == Spread::tokens) whiten_tokens(rollouts, advantage, &estimate.advantage);
  return estimate;
}

DoubleValueLoss value_loss(const DoubleValueTerms& terms, const StepStatistics& statistics, const CriticRule& rule,
                           const Aggregation& aggregation) {
  const std::size_t length = terms.trainable.size();
  MAXPLUS_REQUIRE(terms.value.size() == length && terms.target.size() == length &&
                      (!rule.value_clip || terms.old_value.size() == length),
                  "a value, an old value and a target a response token");
  DoubleValueLoss loss;
  loss.d_value.assign(length, 0.0);
  loss.tokens = std::count_if(terms.trainable.begin(), terms.trainable.end(), [](std::uint8_t x) { return x != 0; });
  const double denominator = aggregation.denominator(statistics, loss.tokens);
  for (std::size_t t = 0; t < length; ++t) {
    if (terms.trainable[t] == 0) continue;
    double gap = terms.value[t] - terms.target[t], slope = gap;
    if (rule.value_clip) {
      const double moved = terms.value[t] - terms.old_value[t];
      const double kept = std::min(std::max(moved, -*rule.value_clip), *rule.value_clip);
      const double clipped_gap = terms.old_value[t] + kept - terms.target[t];
      if (kept != moved && clipped_gap * clipped_gap > gap * gap) {
        gap = clipped_gap;
        slope = 0;
        ++loss.clipped;
      }
    }
    loss.loss += 0.5 * gap * gap / denominator;
    loss.d_value[t] = slope / denominator;
  }
  return loss;
}

}  // namespace maxplus
