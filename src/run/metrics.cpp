#include "run/metrics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "data/problem_mix.hpp"
#include "roles/trainer.hpp"
#include "run/metric_table.hpp"

namespace maxplus {

namespace {

void require_known(std::string_view name) {
  MAXPLUS_REQUIRE(find_metric(name) != nullptr, fmt::format("metric '{}' has no entry in run/metric_table.cpp", name));
}

// Of values in the order given, in two passes.
struct Summary {
  std::vector<double> values;
  void add(double value) { values.push_back(value); }
  bool empty() const { return values.empty(); }
  double mean() const {
    double sum = 0;
    for (const double v : values) sum += v;
    return sum / static_cast<double>(values.size());
  }
  double deviation() const {
    const double centre = mean();
    double squares = 0;
    for (const double v : values) squares += (v - centre) * (v - centre);
    return std::sqrt(squares / static_cast<double>(values.size()));
  }
  double smallest() const { return *std::min_element(values.begin(), values.end()); }
  double largest() const { return *std::max_element(values.begin(), values.end()); }
};

void set_mean(MetricsRow* row, std::string_view name, const Summary& s) {
  if (!s.empty()) row->set(name, s.mean());
}

void set_range(MetricsRow* row, const std::string& prefix, const Summary& s) {
  if (s.empty()) return;
  row->set(prefix + "_min", s.smallest());
  row->set(prefix + "_max", s.largest());
}

}  // namespace

void MetricsRow::set(std::string_view name, std::int64_t value) {
  require_known(name);
  values_[std::string(name)] = value;
}

void MetricsRow::set(std::string_view name, double value) {
  require_known(name);
  if (std::isfinite(value)) {
    values_[std::string(name)] = value;
  } else {
    values_.erase(std::string(name));
  }
}

void MetricsRow::set(std::string_view name, std::string_view text) {
  require_known(name);
  values_[std::string(name)] = std::string(text);
}

bool MetricsRow::has(std::string_view name) const { return values_.contains(std::string(name)); }

double MetricsRow::number(std::string_view name) const {
  const auto found = values_.find(std::string(name));
  return found != values_.end() && found->is_number() ? found->get<double>() : std::numeric_limits<double>::quiet_NaN();
}

Json MetricsRow::line() const {
  Json line = Json::object();
  line["schema"] = 1;
  for (const char* first : {"phase", "iteration"}) {
    if (values_.contains(first)) line[first] = values_[first];
  }
  for (const auto& [name, value] : values_.items()) line[name] = value;
  return line;
}

nlohmann::json MetricsRow::to_json() const {
  nlohmann::json pairs = nlohmann::json::array();
  for (const auto& [name, value] : values_.items()) pairs.push_back({name, nlohmann::json(value)});
  return pairs;
}

MetricsRow MetricsRow::from_json(const nlohmann::json& saved) {
  MetricsRow row;
  for (const auto& pair : saved) row.values_[pair.at(0).get<std::string>()] = Json(pair.at(1));
  return row;
}

namespace {

// Of a mix (data/problem_mix.hpp); empty for other problems.
std::map<std::string, double> accuracy_by_source(std::span<const Experience> experiences) {
  std::map<std::string, std::pair<double, double>> right_of_all;
  for (const Experience& e : experiences) {
    const auto source = e.problem.extra.find(kMixSource);
    if (source == e.problem.extra.end() || !source->is_string() || !counts(e.assessment.verdict)) continue;
    auto& [right, all] = right_of_all[source->get<std::string>()];
    right += e.assessment.verdict == Verdict::correct ? 1 : 0;
    all += 1;
  }
  std::map<std::string, double> shares;
  for (const auto& [name, sums] : right_of_all) shares[name] = sums.first / sums.second;
  return shares;
}

void add_rewards(MetricsRow* row, std::span<const Experience> experiences, const std::vector<std::string>& part_names,
                 Rewards rewards) {
  Summary reward;
  std::vector<Summary> parts(part_names.size());
  std::int64_t verdicts[kVerdicts] = {};
  for (const Experience& e : experiences) {
    ++verdicts[static_cast<int>(e.assessment.verdict)];
    if (!counts(e.assessment.verdict)) continue;
    reward.add(static_cast<double>(e.assessment.reward));
    for (std::size_t p = 0; p < std::min(parts.size(), e.assessment.part.size()); ++p) {
      parts[p].add(static_cast<double>(e.assessment.part[p]));
    }
  }
  set_mean(row, "reward_mean", reward);
  if (!reward.empty()) row->set("reward_std", reward.deviation());
  set_range(row, "reward", reward);
  for (std::size_t p = 0; p < parts.size(); ++p) {
    if (parts[p].empty()) continue;
    row->set(fmt::format("reward_part_{}_mean", part_names[p]), parts[p].mean());
    row->set(fmt::format("reward_part_{}_std", part_names[p]), parts[p].deviation());
  }
  if (rewards == Rewards::scored) return;
  if (!reward.empty()) {
    row->set("accuracy", static_cast<double>(verdicts[static_cast<int>(Verdict::correct)]) /
                             static_cast<double>(reward.values.size()));
  }
  for (const auto& [name, share] : accuracy_by_source(experiences)) row->set("accuracy_" + name, share);
  for (int v = 0; v < kVerdicts; ++v)
    row->set(fmt::format("verdict_{}", name_of(static_cast<Verdict>(v))), verdicts[v]);
}

void add_lengths(MetricsRow* row, std::span<const Experience> experiences, Rewards rewards) {
  Summary prompt, all, correct, wrong;
  std::int64_t truncated = 0;
  for (const Experience& e : experiences) {
    const double length = static_cast<double>(e.rollout.token.size());
    prompt.add(static_cast<double>(e.problem.prompt.size()));
    all.add(length);
    if (e.assessment.verdict == Verdict::correct) {
      correct.add(length);
    } else if (counts(e.assessment.verdict)) {
      wrong.add(length);
    }
    truncated += e.rollout.finish == Finish::length || e.rollout.finish == Finish::budget ? 1 : 0;
  }
  set_mean(row, "prompt_length_mean", prompt);
  set_mean(row, "response_length_mean", all);
  if (!all.empty()) {
    row->set("response_length_min", static_cast<std::int64_t>(all.smallest()));
    row->set("response_length_max", static_cast<std::int64_t>(all.largest()));
    row->set("truncated_share", static_cast<double>(truncated) / static_cast<double>(all.values.size()));
  }
  if (rewards == Rewards::scored) return;
  set_mean(row, "response_length_correct_mean", correct);
  set_mean(row, "response_length_wrong_mean", wrong);
}

void add_groups(MetricsRow* row, std::span<const Experience> experiences) {
  struct Group {
    bool any = false, equal = true;
    float first = 0;
  };
  std::map<std::int64_t, Group> groups;
  Summary advantage;
  for (const Experience& e : experiences) {
    Group& group = groups[e.rollout.group];
    if (counts(e.assessment.verdict)) {
      if (!group.any) group.first = e.assessment.reward;
      group.equal = group.equal && e.assessment.reward == group.first;
      group.any = true;
    }
    for (std::size_t t = 0; t < e.advantage.size(); ++t) {
      if (e.rollout.trainable[t] != 0) advantage.add(static_cast<double>(e.advantage[t]));
    }
  }
  std::int64_t flat = 0;
  for (const auto& [id, group] : groups) flat += group.equal ? 1 : 0;
  row->set("groups", static_cast<std::int64_t>(groups.size()));
  if (!groups.empty())
    row->set("groups_zero_spread_share", static_cast<double>(flat) / static_cast<double>(groups.size()));
  set_range(row, "advantage", advantage);
}

}  // namespace

void add_rollout_statistics(MetricsRow* row, std::span<const Experience> experiences,
                            const std::vector<std::string>& part_names, Rewards rewards) {
  row->set("rollouts", static_cast<std::int64_t>(experiences.size()));
  if (rewards != Rewards::given) add_rewards(row, experiences, part_names, rewards);
  add_lengths(row, experiences, rewards);
  add_groups(row, experiences);
}

namespace {

// Returns the first step that trained a token, or null.
const StepReport* add_steps(MetricsRow* row, std::span<const StepReport> steps) {
  std::int64_t trained = 0, processed = 0, skipped = 0;
  Summary loss, policy, kl, gradient, update, tokens, sequences, pairs_right, margin;
  const StepReport* first = nullptr;
  // Means over tokens of all steps together.
  double entropy = 0, ratio = 0, kl_old = 0, kl_reference = 0, low = 0, high = 0, smallest = 0, largest = 0,
         effective = 0, importance = 0, truncated = 0, masked = 0;
  for (const StepReport& s : steps) {
    processed += s.tokens_processed;
    skipped += s.skipped ? 1 : 0;
    tokens.add(s.denominator_tokens);
    sequences.add(s.denominator_sequences);
    gradient.add(s.gradient_norm);
    if (!s.skipped) update.add(s.update_norm);
    if (s.tokens_trained == 0) continue;
    loss.add(s.loss);
    policy.add(s.policy_loss);
    kl.add(s.kl_loss);
    if (s.pairs > 0) pairs_right.add(s.preference_accuracy), margin.add(s.preference_margin);
    const double weight = static_cast<double>(s.tokens_trained);
    trained += s.tokens_trained;
    entropy += weight * s.entropy_mean;
    ratio += weight * s.ratio_mean;
    effective += weight * s.effective_sample_share;
    kl_old += weight * s.kl_old;
    kl_reference += weight * s.kl_reference;
    importance = std::max(importance, s.importance_ratio_max);
    truncated += weight * s.importance_truncated_share;
    masked += weight * s.importance_masked_share;
    low += weight * s.clip_share_low;
    high += weight * s.clip_share_high;
    smallest = first == nullptr ? s.ratio_min : std::min(smallest, s.ratio_min);
    largest = first == nullptr ? s.ratio_max : std::max(largest, s.ratio_max);
    if (first == nullptr) first = &s;
  }
  row->set("tokens_trained", trained);
  row->set("tokens_processed", processed);
  row->set("steps_skipped", skipped);
  set_mean(row, "denominator_tokens", tokens);
  set_mean(row, "denominator_sequences", sequences);
  set_mean(row, "gradient_norm", gradient);
  set_mean(row, "update_norm", update);
  if (!steps.empty()) row->set("learning_rate", steps.back().learning_rate);
  if (first == nullptr) return nullptr;
  const double weight = static_cast<double>(trained);
  set_mean(row, "loss", loss);
  set_mean(row, "preference_accuracy", pairs_right);
  set_mean(row, "preference_margin", margin);
  if (!first->has_policy) return first;
  set_mean(row, "policy_loss", policy);
  if (first->has_reference) {
    set_mean(row, "kl_loss", kl);
    row->set("kl_reference", kl_reference / weight);
  }
  row->set("entropy_mean", entropy / weight);
  row->set("ratio_min", smallest);
  row->set("ratio_max", largest);
  row->set("ratio_mean", steps.size() == 1 ? first->ratio_mean : ratio / weight);
  row->set("effective_sample_share", steps.size() == 1 ? first->effective_sample_share : effective / weight);
  row->set("importance_ratio_max", importance);
  if (first->has_importance_weights) {
    row->set("importance_truncated_share", truncated / weight);
    row->set("importance_masked_share", masked / weight);
  }
  row->set("clip_share_low", low / weight);
  row->set("clip_share_high", high / weight);
  row->set("kl_old", kl_old / weight);
  return first;
}

}  // namespace

void add_step_statistics(MetricsRow* row, const StepReport& step) {
  add_steps(row, std::span<const StepReport>(&step, 1));
}

void add_step_statistics(MetricsRow* row, std::span<const StepReport> steps) {
  const StepReport* const first = add_steps(row, steps);
  if (first == nullptr || !first->has_policy) return;
  row->set("first_ratio_min", first->ratio_min);
  row->set("first_ratio_max", first->ratio_max);
  row->set("log_prob_gap_max", first->log_prob_gap_max);
}

void add_value_statistics(MetricsRow* row, std::span<const ValueReport> values) {
  Summary loss, clipped, gradient, update;
  for (const ValueReport& value : values) {
    loss.add(value.loss);
    clipped.add(value.clip_share);
    gradient.add(value.gradient_norm);
    if (!value.skipped) update.add(value.update_norm);
  }
  set_mean(row, "value_loss", loss);
  set_mean(row, "value_clip_share", clipped);
  if (values.empty() || !values.back().own_network) return;
  set_mean(row, "critic_gradient_norm", gradient);
  set_mean(row, "critic_update_norm", update);
  row->set("critic_learning_rate", values.back().learning_rate);
}

void add_explained_variance(MetricsRow* row, std::span<const Experience> experiences) {
  struct Moments {
    double sum = 0, mean = 0, squares = 0;
  } target, residual;
  double tokens = 0;
  const auto each = [&experiences](const auto& visit) {
    for (const Experience& e : experiences) {
      if (!counts(e.assessment.verdict) || e.assessment.value.size() != e.value_target.size()) continue;
      for (std::size_t t = 0; t < e.value_target.size(); ++t) {
        if (e.rollout.trainable[t] == 0) continue;
        const double wanted = static_cast<double>(e.value_target[t]);
        visit(wanted, wanted - static_cast<double>(e.assessment.value[t]));
      }
    }
  };
  each([&](double wanted, double missed) { tokens += 1, target.sum += wanted, residual.sum += missed; });
  if (tokens == 0) return;
  target.mean = target.sum / tokens;
  residual.mean = residual.sum / tokens;
  each([&](double wanted, double missed) {
    target.squares += (wanted - target.mean) * (wanted - target.mean);
    residual.squares += (missed - residual.mean) * (missed - residual.mean);
  });
  if (target.squares > 0) row->set("explained_variance", 1.0 - residual.squares / target.squares);
}

}  // namespace maxplus
