#include "rl/algorithms/group_baseline.hpp"

#include <cmath>
#include <map>

#include <fmt/format.h>

#include "base/error.hpp"

namespace maxplus {

namespace {

// Of the rewards at some places.
struct Moments {
  std::int64_t members = 0;
  double sum = 0;
  double mean = 0;
  double deviation = 0;  // 0 with fewer members than degrees_lost + 1
  bool equal = true;
};

Moments moments_of(std::span<const double> reward, const std::vector<std::size_t>& places, int degrees_lost) {
  Moments m;
  m.members = static_cast<std::int64_t>(places.size());
  if (places.empty()) return m;
  for (const std::size_t i : places) {
    m.sum += reward[i];
    m.equal = m.equal && reward[i] == reward[places.front()];
  }
  m.mean = m.sum / static_cast<double>(m.members);
  double squares = 0;
  for (const std::size_t i : places) squares += (reward[i] - m.mean) * (reward[i] - m.mean);
  if (m.members > degrees_lost) m.deviation = std::sqrt(squares / static_cast<double>(m.members - degrees_lost));
  return m;
}

double centred(double reward, const Moments& group, const Moments& batch, Baseline baseline) {
  switch (baseline) {
    case Baseline::none:
    case Baseline::greedy_reward: return reward;
    case Baseline::group_mean: return reward - group.mean;
    case Baseline::leave_one_out: return reward - (group.sum - reward) / static_cast<double>(group.members - 1);
    case Baseline::batch_mean: return reward - batch.mean;
  }
  MAXPLUS_REQUIRE(false, "unknown baseline");
}

// At or below 0: no advantage.
double divisor(const Moments& group, const Moments& batch, const BaselineRule& rule) {
  switch (rule.spread) {
    case Spread::none:
    case Spread::tokens: return 1;
    case Spread::group: return group.deviation + rule.epsilon;
    case Spread::batch: return batch.deviation + rule.epsilon;
    case Spread::group_mean: return group.mean;
  }
  MAXPLUS_REQUIRE(false, "unknown spread");
}

}  // namespace

std::string BaselineRule::describe() const {
  constexpr const char* kTexts[] = {"reward", "reward - mean of the group", "reward - mean of the group's others",
                                    "reward - mean of the batch", "reward - reward of the greedy answer"};
  const std::string text = kTexts[static_cast<int>(baseline)];
  const char* const degrees = degrees_lost == 1 ? "n - 1" : "n";
  switch (spread) {
    case Spread::none: return text;
    case Spread::group:
    case Spread::batch:
      return fmt::format("({}) / (std of the {} + {}), std with {}", text, spread == Spread::group ? "group" : "batch",
                         epsilon, degrees);
    case Spread::group_mean: return fmt::format("({}) / mean of the group", text);
    case Spread::tokens:
      return fmt::format("{}, whitened over the batch's tokens: (A - mean) / sqrt(variance + {}), variance with {}",
                         text, epsilon, degrees);
  }
  MAXPLUS_REQUIRE(false, "unknown spread");
}

std::vector<double> group_advantages(std::span<const double> reward, std::span<const std::int64_t> group,
                                     std::span<const std::uint8_t> counts, const BaselineRule& rule) {
  MAXPLUS_REQUIRE(reward.size() == group.size() && reward.size() == counts.size(), "one group and one flag a reward");
  std::map<std::int64_t, std::vector<std::size_t>> members;
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < reward.size(); ++i) {
    if (counts[i] == 0) continue;
    members[group[i]].push_back(i);
    all.push_back(i);
  }
  const Moments batch = moments_of(reward, all, rule.degrees_lost);
  std::vector<double> advantage(reward.size(), 0.0);
  for (const auto& [id, places] : members) {
    const Moments own = moments_of(reward, places, rule.degrees_lost);
    const Moments& compared = rule.baseline == Baseline::batch_mean ? batch : own;
    const bool compares = rule.baseline != Baseline::none && rule.baseline != Baseline::greedy_reward;
    if (compares && (compared.equal || compared.members < 2)) continue;
    const double scale = divisor(own, batch, rule);
    for (const std::size_t i : places) {
      const double deviation = centred(reward[i], own, batch, rule.baseline);
      advantage[i] = scale > 0 ? deviation / scale : 0.0;
    }
  }
  return advantage;
}

}  // namespace maxplus
