#include "rl/algorithms/grpo.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/strings.hpp"

namespace maxplus {

double overlong_share(std::int64_t tokens, std::int64_t limit, std::int64_t buffer) {
  if (tokens <= limit - buffer) return 0;
  if (tokens > limit) return -1;
  return static_cast<double>(limit - buffer - tokens) / static_cast<double>(buffer);
}

double Grpo::shaped_reward(const Experience& experience) const {
  const Rollout& rollout = experience.rollout;
  double reward = static_cast<double>(experience.assessment.reward);
  if (settings_.overlong) {
    const OverlongShaping& shaping = *settings_.overlong;
    reward += shaping.penalty *
              overlong_share(static_cast<std::int64_t>(rollout.token.size()), shaping.limit, shaping.buffer);
  }
  if (settings_.kl_in_reward == KlEstimator::none) return reward;
  const std::vector<float>& reference = experience.assessment.reference_log_prob;
  MAXPLUS_REQUIRE(reference.size() == rollout.token.size() && rollout.log_prob.size() == rollout.token.size(),
                  "KL in the reward needs the reference's log-probabilities of " + rollout.id.text());
  double kl = 0;
  for (std::size_t t = 0; t < rollout.token.size(); ++t) {
    if (rollout.trainable[t] == 0) continue;
    kl += kl_term(settings_.kl_in_reward, static_cast<double>(rollout.log_prob[t]), static_cast<double>(reference[t]))
              .value;
  }
  return reward - settings_.kl_reward_coefficient * kl;
}

Needs Grpo::needs() const {
  return {settings_.policy.kl != KlEstimator::none || settings_.kl_in_reward != KlEstimator::none, false};
}

void Grpo::fill_advantages(std::span<Experience> whole_groups) const {
  std::vector<double> reward;
  std::vector<std::int64_t> group;
  std::vector<std::uint8_t> counted;
  for (const Experience& experience : whole_groups) {
    const bool in = counts(experience.assessment.verdict);
    reward.push_back(in ? shaped_reward(experience) : 0.0);
    group.push_back(experience.rollout.group);
    counted.push_back(in ? 1 : 0);
  }
  const std::vector<double> advantage = group_advantages(reward, group, counted, settings_.baseline);
  for (std::size_t i = 0; i < whole_groups.size(); ++i) {
    const std::vector<std::uint8_t>& trainable = whole_groups[i].rollout.trainable;
    std::vector<float>& filled = whole_groups[i].advantage;
    filled.assign(trainable.size(), 0.0f);
    for (std::size_t t = 0; t < trainable.size(); ++t) {
      if (trainable[t] != 0) filled[t] = static_cast<float>(advantage[i]);
    }
  }
}

bool Grpo::takes_part(const Experience& experience) const {
  if (!counts(experience.assessment.verdict)) return false;
  return !settings_.mask_truncated || experience.rollout.finish == Finish::stopped;
}

StepStatistics Grpo::prepare(std::span<const Experience* const> step) const { return count_step(*this, step); }

TokenLoss Grpo::loss(const TokenTerms& terms, const StepStatistics& statistics) const {
  return clipped_policy_loss(terms, statistics, settings_.policy);
}

namespace {

const char* name_of(KlEstimator kl) {
  constexpr const char* kNames[] = {"none", "k1", "k2", "k3"};
  return kNames[static_cast<int>(kl)];
}

// The settings as keys and values of a deck, in which a deviation can be named.
std::vector<std::pair<std::string, std::string>> listing(const GrpoSettings& s) {
  const bool in_reward = s.kl_in_reward != KlEstimator::none;
  const KlEstimator kl = in_reward ? s.kl_in_reward : s.policy.kl;
  std::string kl_text = name_of(kl);
  if (kl != KlEstimator::none) {
    kl_text += fmt::format(" in the {}, coefficient {}", in_reward ? "reward" : "loss",
                           in_reward ? s.kl_reward_coefficient : s.policy.kl_coefficient);
  }
  const std::string std_text = s.baseline.spread == Spread::none ? "none" : s.baseline.degrees_lost == 1 ? "n-1" : "n";
  return {{"clip_low", fmt::format("{}", s.policy.clip_low)},
          {"clip_high", fmt::format("{}", s.policy.clip_high)},
          {"dual_clip", s.policy.dual_clip ? fmt::format("{}", *s.policy.dual_clip) : "off"},
          {"kl", kl_text},
          {"std", std_text},
          {"scope", s.baseline.spread == Spread::batch ? "batch" : "group"},
          {"aggregation", s.policy.aggregation.describe()},
          {"ratio", s.policy.ratio == RatioLevel::sequence ? "sequence" : "token"},
          {"dynamic_sampling", s.dynamic_sampling ? "on" : "off"},
          {"overlong shaping", s.overlong ? fmt::format("limit {}, buffer {}, penalty {}", s.overlong->limit,
                                                        s.overlong->buffer, s.overlong->penalty)
                                          : "off"},
          {"mask_truncated", s.mask_truncated ? "on" : "off"},
          {"entropy_coefficient", fmt::format("{}", s.policy.entropy_coefficient)}};
}

}  // namespace

std::vector<std::string> Grpo::describe() const {
  const ClippedPolicy& p = settings_.policy;
  std::vector<std::string> lines;
  lines.push_back(fmt::format("algorithm {}: advantage = {}; exactly 0 for equal rewards", settings_.name,
                              settings_.baseline.describe()));
  if (settings_.overlong) {
    lines.push_back(fmt::format("reward shaped before advantages: -{} from {} tokens linearly to {}",
                                settings_.overlong->penalty, settings_.overlong->limit - settings_.overlong->buffer,
                                settings_.overlong->limit));
  }
  lines.push_back(fmt::format("policy term = -min(r A, clip(r, 1 - {}, 1 + {}) A), r of the {}{}", p.clip_low,
                              p.clip_high, p.ratio == RatioLevel::sequence ? "sequence" : "token",
                              p.dual_clip ? fmt::format(", not below {} A for A < 0", *p.dual_clip) : ""));
  lines.push_back("aggregation of all terms: " + p.aggregation.describe());
  const auto ours = listing(settings_), theirs = listing(paper_);
  for (std::size_t i = 0; i < ours.size(); ++i) {
    if (ours[i].second == theirs[i].second) continue;
    lines.push_back(fmt::format("differs from the paper of {}: {} = {} (paper: {})", settings_.name, ours[i].first,
                                ours[i].second, theirs[i].second));
  }
  return lines;
}

namespace {

[[noreturn]] void refuse(const std::string& found, const std::string& expected) {
  throw Error(ExitCode::config, Fault{"", "[algorithm] " + found, expected, ""});
}

// What the paper says; where it is silent, our estimator defaults (std n-1, group, epsilon 1e-4).
GrpoSettings paper_settings(const std::string& name, std::int64_t max_new_tokens) {
  GrpoSettings s;
  s.name = name;
  s.policy.aggregation = {AggregationKind::sequence_mean,
                          static_cast<double>(std::max<std::int64_t>(max_new_tokens, 1))};
  if (name == "grpo") {
    s.policy.kl = KlEstimator::k3;
    s.policy.kl_coefficient = 0.04;
  } else if (name == "dr_grpo") {
    s.policy.aggregation.kind = AggregationKind::sequence_sum_constant;
    s.baseline.spread = Spread::none;
  } else if (name == "dapo") {
    s.policy.clip_high = 0.28;
    s.policy.aggregation.kind = AggregationKind::token_mean;
    s.dynamic_sampling = true;
    s.overlong = OverlongShaping{max_new_tokens, max_new_tokens / 5, 1.0};  // the paper's 4096 of 20480 tokens
  } else if (name == "gspo") {
    s.policy.clip_low = 3e-4;
    s.policy.clip_high = 4e-4;
    s.policy.ratio = RatioLevel::sequence;
  } else {
    refuse(fmt::format("name = '{}' is unknown{}", name, did_you_mean(name, grpo_names())), "");
  }
  return s;
}

void apply_baseline(const AlgorithmTable& table, GrpoSettings& s) {
  if (table.std) {
    if (*table.std == "none") {
      s.baseline.spread = Spread::none;
    } else if (*table.std == "n-1" || *table.std == "n") {
      s.baseline.spread = Spread::group;
      s.baseline.degrees_lost = *table.std == "n" ? 0 : 1;
    } else {
      refuse(fmt::format("std = '{}' is unknown", *table.std), "n-1, n or none");
    }
  }
  if (table.scope && *table.scope == "batch") {
    if (s.baseline.spread == Spread::group) s.baseline.spread = Spread::batch;
  } else if (table.scope && *table.scope != "group") {
    refuse(fmt::format("scope = '{}' is unknown", *table.scope), "group or batch");
  }
  if (table.epsilon) s.baseline.epsilon = *table.epsilon;
}

void apply_kl(const AlgorithmTable& table, GrpoSettings& s) {
  const double coefficient = table.kl_coefficient.value_or(0.04);
  const std::string where = table.kl_where.value_or("loss");
  if (where != "loss" && where != "reward") refuse(fmt::format("kl_where = '{}' is unknown", where), "loss or reward");
  const KlEstimator kl = kl_estimator_of(table.kl);
  s.policy.kl = where == "loss" ? kl : KlEstimator::none;
  s.policy.kl_coefficient = s.policy.kl == KlEstimator::none ? 0.0 : coefficient;
  s.kl_in_reward = where == "reward" ? kl : KlEstimator::none;
  s.kl_reward_coefficient = s.kl_in_reward == KlEstimator::none ? 0.0 : coefficient;
}

void apply_policy(const AlgorithmTable& table, GrpoSettings& s) {
  s.policy.clip_low = table.clip_low.value_or(s.policy.clip_low);
  s.policy.clip_high = table.clip_high.value_or(s.policy.clip_high);
  if (table.dual_clip) s.policy.dual_clip = table.dual_clip;
  if (s.policy.dual_clip && *s.policy.dual_clip <= 1) {
    refuse(fmt::format("dual_clip = {} would clip tokens on policy", *s.policy.dual_clip), "above 1, as 3");
  }
  if (table.aggregation) s.policy.aggregation.kind = aggregation_of(*table.aggregation);
  s.policy.aggregation.length = table.aggregation_length.value_or(s.policy.aggregation.length);
  if (!(s.policy.aggregation.length > 0)) refuse("aggregation_length must be above 0", "");
  if (table.ratio) {
    if (*table.ratio != "token" && *table.ratio != "sequence") {
      refuse(fmt::format("ratio = '{}' is unknown", *table.ratio), "token or sequence");
    }
    s.policy.ratio = *table.ratio == "sequence" ? RatioLevel::sequence : RatioLevel::token;
  }
  s.policy.entropy_coefficient = table.entropy_coefficient.value_or(s.policy.entropy_coefficient);
}

void apply_overlong(const AlgorithmTable& table, std::int64_t max_new_tokens, GrpoSettings& s) {
  s.mask_truncated = table.mask_truncated.value_or(s.mask_truncated);
  if (table.overlong_limit || table.overlong_buffer || table.overlong_penalty) {
    const std::int64_t limit = table.overlong_limit.value_or(max_new_tokens);
    s.overlong =
        OverlongShaping{limit, table.overlong_buffer.value_or(limit / 5), table.overlong_penalty.value_or(1.0)};
  }
  if (s.overlong && (s.overlong->buffer < 0 || s.overlong->buffer > s.overlong->limit)) {
    refuse(fmt::format("overlong_buffer = {} does not fit overlong_limit = {}", s.overlong->buffer, s.overlong->limit),
           "0 <= overlong_buffer <= overlong_limit, in tokens");
  }
  if (s.overlong && s.overlong->penalty == 0) s.overlong.reset();
}

}  // namespace

std::vector<std::string> grpo_names() { return {"grpo", "dr_grpo", "dapo", "gspo"}; }

GrpoSettings grpo_settings(const AlgorithmTable& table, std::int64_t max_new_tokens) {
  GrpoSettings s = paper_settings(table.name, max_new_tokens);
  apply_baseline(table, s);
  apply_kl(table, s);
  apply_policy(table, s);
  apply_overlong(table, max_new_tokens, s);
  s.dynamic_sampling = table.dynamic_sampling.value_or(s.dynamic_sampling);
  return s;
}

std::unique_ptr<Algorithm> make_grpo(const AlgorithmTable& table, std::int64_t max_new_tokens) {
  return std::make_unique<Grpo>(grpo_settings(table, max_new_tokens), paper_settings(table.name, max_new_tokens));
}

}  // namespace maxplus
