#include "rl/algorithms/advantage.hpp"

#include <cmath>
#include <map>

#include <fmt/format.h>

#include "base/error.hpp"

namespace maxplus {

namespace {

using TokenValues = std::vector<std::vector<double>>;

double compared_reward(const JudgedRollout& rollout, const AdvantageRule& rule) {
  if (!rollout.counts) return 0;
  double reward = rollout.reward;
  if (rule.kl == KlPlacement::tokens) return reward;
  double kl = 0;
  for (std::size_t t = 0; t < rollout.kl.size(); ++t) kl += rollout.trainable[t] != 0 ? rollout.kl[t] : 0.0;
  return reward - kl;
}

std::vector<double> rollout_advantages(std::span<const JudgedRollout> rollouts, const AdvantageRule& rule) {
  std::vector<double> reward;
  std::vector<std::int64_t> group;
  std::vector<std::uint8_t> counts;
  for (const JudgedRollout& rollout : rollouts) {
    reward.push_back(compared_reward(rollout, rule));
    if (rule.baseline.baseline == Baseline::greedy_reward && rollout.counts) {
      MAXPLUS_REQUIRE(rollout.greedy_reward, "the reward of the greedy answer is missing");
      reward.back() -= *rollout.greedy_reward;
    }
    group.push_back(rollout.group);
    counts.push_back(rollout.counts ? 1 : 0);
  }
  return group_advantages(reward, group, counts, rule.baseline);
}

// From the last trainable token backwards: what the token and those after it bring.
std::vector<double> token_values(const JudgedRollout& rollout, double last, const AdvantageRule& rule) {
  std::vector<double> values(rollout.trainable.size(), 0.0);
  double ahead = last;
  bool at_last = true;
  for (std::size_t t = values.size(); t-- > 0;) {
    if (rollout.trainable[t] == 0) continue;
    if (!at_last) ahead *= rule.gamma;
    at_last = false;
    if (rule.kl == KlPlacement::tokens && !rollout.kl.empty()) ahead -= rollout.kl[t];
    values[t] = ahead;
  }
  return values;
}

// Rollouts of groups that compare rewards and find them equal carry no signal.
std::vector<std::uint8_t> without_signal(std::span<const JudgedRollout> rollouts, const AdvantageRule& rule) {
  std::vector<std::uint8_t> silent(rollouts.size(), 0);
  if (rule.baseline.baseline == Baseline::none) return silent;
  std::map<std::int64_t, std::pair<double, bool>> groups;  // the first reward, and whether all are equal to it
  for (const JudgedRollout& rollout : rollouts) {
    if (!rollout.counts) continue;
    const double reward = compared_reward(rollout, rule);
    auto& [first, equal] = groups.try_emplace(rollout.group, reward, true).first->second;
    equal = equal && reward == first;
  }
  for (std::size_t i = 0; i < rollouts.size(); ++i)
    silent[i] = rollouts[i].counts && groups.at(rollouts[i].group).second ? 1 : 0;
  return silent;
}

}  // namespace

void whiten_tokens(std::span<const JudgedRollout> rollouts, const AdvantageRule& rule, TokenValues* values) {
  double sum = 0, tokens = 0, first = 0;
  bool equal = true;
  const auto each = [&](const auto& visit) {
    for (std::size_t i = 0; i < rollouts.size(); ++i) {
      if (!rollouts[i].counts) continue;
      for (std::size_t t = 0; t < (*values)[i].size(); ++t) {
        if (rollouts[i].trainable[t] != 0) visit(i, (*values)[i][t]);
      }
    }
  };
  each([&](std::size_t, double value) {
    if (tokens == 0) first = value;
    equal = equal && value == first;
    sum += value;
    tokens += 1;
  });
  const double mean = tokens > 0 ? sum / tokens : 0;
  double squares = 0;
  each([&](std::size_t, double value) { squares += (value - mean) * (value - mean); });
  const double degrees = tokens - rule.baseline.degrees_lost;
  const double scale = degrees > 0 ? std::sqrt(squares / degrees + rule.baseline.epsilon) : 0;
  const std::vector<std::uint8_t> silent = without_signal(rollouts, rule);
  each([&](std::size_t i, double& value) {
    value = equal || silent[i] != 0 || !(scale > 0) ? 0.0 : (value - mean) / scale;
  });
}

std::string AdvantageRule::describe() const {
  std::string text = baseline.describe();
  if (kl == KlPlacement::tokens) text += ", a KL in the reward counted where its token stands";
  if (gamma != 1) text += fmt::format(", discounted by {} a token from the last one backwards", gamma);
  return text;
}

std::vector<std::vector<double>> token_advantages(std::span<const JudgedRollout> rollouts, const AdvantageRule& rule) {
  for (const JudgedRollout& rollout : rollouts) {
    MAXPLUS_REQUIRE(rollout.kl.empty() || rollout.kl.size() == rollout.trainable.size(), "one KL a response token");
  }
  const std::vector<double> of_rollout = rollout_advantages(rollouts, rule);
  TokenValues values;
  for (std::size_t i = 0; i < rollouts.size(); ++i) {
    values.push_back(rollouts[i].counts ? token_values(rollouts[i], of_rollout[i], rule)
                                        : std::vector<double>(rollouts[i].trainable.size(), 0.0));
  }
  if (rule.baseline.spread == Spread::tokens) whiten_tokens(rollouts, rule, &values);
  return values;
}

}  // namespace maxplus
