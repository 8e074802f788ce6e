#include "rl/algorithms/policy_options.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"
#include "deck/tables.hpp"
#include "rl/algorithms/given_keys.hpp"

namespace maxplus {

namespace {

using Faults = std::vector<Fault>;

// `found` begins with the key, by which the checker of decks finds the line.
void refuse(Faults& faults, const std::string& found, const std::string& expected) {
  faults.push_back({"", "[algorithm] " + found, expected, ""});
}

// What the objective leaves without a use.
std::vector<RefusedKey> without_use(Objective objective, bool has_critic) {
  std::vector<RefusedKey> keys;
  const std::string no_clip = "the loss of this rule is not clipped";
  if (objective != Objective::clipped_ratio && objective != Objective::truncated_weight) {
    keys.push_back({"clip_low", no_clip});
    keys.push_back({"clip_high", no_clip});
  }
  if (objective != Objective::clipped_ratio) keys.push_back({"dual_clip", no_clip});
  if (objective == Objective::log_prob) keys.push_back({"ratio", "the loss of this rule has no ratio"});
  if (objective != Objective::soft_gate) {
    keys.push_back({"sapo_tau_positive", "it belongs to sapo"});
    keys.push_back({"sapo_tau_negative", "it belongs to sapo"});
  }
  if (objective != Objective::anchored) keys.push_back({"opmd_tau", "it belongs to opmd"});
  if (objective != Objective::plain_ratio) keys.push_back({"m2_threshold", "it belongs to m2po"});
  for (const char* key : kPreferenceKeys) keys.push_back({key, "it belongs to the rules that learn from preferences"});
  if (has_critic) return keys;
  for (const char* key : kCriticKeys) keys.push_back({key, "it belongs to rules with a critic: ppo and vapo"});
  return keys;
}

void refuse_without_use(const AlgorithmTable& table, const Recipe& recipe, const PolicySettings& settings,
                        Faults& faults) {
  std::vector<RefusedKey> refused = recipe.refused;
  for (RefusedKey& key : without_use(settings.policy.objective, settings.critic.has_value())) {
    const bool told =
        std::any_of(refused.begin(), refused.end(), [&](const RefusedKey& r) { return r.key == key.key; });
    if (!told) refused.push_back(std::move(key));
  }
  for (const GivenKey& given : given_keys(table)) {
    for (const RefusedKey& key : refused) {
      if (key.key != given.name) continue;
      faults.push_back({"",
                        fmt::format("[algorithm] {} = {} has no meaning with name = '{}': {}", given.name, given.value,
                                    recipe.name, key.reason),
                        "", "remove " + given.name});
    }
  }
}

// The place of a key's value among its names; faults tell of another one.
template <class Choice, std::size_t N>
void choose(const std::optional<std::string>& value, const char* key, const char* expected,
            const std::pair<const char*, Choice> (&choices)[N], Choice* chosen, Faults& faults) {
  if (!value) return;
  for (const auto& [name, choice] : choices) {
    if (*value == name) {
      *chosen = choice;
      return;
    }
  }
  refuse(faults, fmt::format("{} = '{}' is unknown", key, *value), expected);
}

void apply_baseline(const AlgorithmTable& table, BaselineRule& rule, Faults& faults) {
  if (rule.spread == Spread::group_mean || rule.baseline == Baseline::greedy_reward) return;  // refused as such
  const bool whitens = rule.spread == Spread::tokens;
  std::string std = rule.spread == Spread::none ? "none" : rule.degrees_lost == 0 ? "n" : "n-1";
  const std::pair<const char*, std::string> stds[] = {{"n-1", "n-1"}, {"n", "n"}, {"none", "none"}};
  choose(table.std, "std", "n-1, n or none", stds, &std, faults);
  bool of_batch = rule.spread == Spread::batch;
  const std::pair<const char*, bool> scopes[] = {{"group", false}, {"batch", true}};
  choose(table.scope, "scope", "group or batch", scopes, &of_batch, faults);
  if (std == "none") {
    rule.spread = Spread::none;
    if (table.scope && of_batch) {
      refuse(faults, "scope = 'batch' has no effect: nothing is divided by a deviation", "std = \"n-1\" or \"n\"");
    }
  } else {
    rule.degrees_lost = std == "n" ? 0 : 1;
    if (!whitens) rule.spread = of_batch ? Spread::batch : Spread::group;
    if (whitens && table.scope && !of_batch)
      refuse(faults, "scope = 'group' has no meaning: advantages are whitened over the batch", "scope = \"batch\"");
  }
  rule.epsilon = table.epsilon.value_or(rule.epsilon);
}

void apply_kl(const AlgorithmTable& table, PolicySettings& s, Faults& faults) {
  const std::pair<const char*, KlEstimator> estimators[] = {
      {"none", KlEstimator::none}, {"k1", KlEstimator::k1}, {"k2", KlEstimator::k2}, {"k3", KlEstimator::k3}};
  choose(std::optional<std::string>(table.kl), "kl", "none, k1, k2 or k3", estimators, &s.kl.estimator, faults);
  const std::pair<const char*, KlWhere> places[] = {{"loss", KlWhere::loss}, {"reward", KlWhere::reward}};
  choose(table.kl_where, "kl_where", "loss or reward", places, &s.kl.where, faults);
  s.kl.coefficient = table.kl_coefficient.value_or(s.kl.coefficient);
  s.kl_controller = kl_controller(table, faults);
  s.place_kl();
}

void apply_importance(const AlgorithmTable& table, ImportanceRule& rule, Faults& faults) {
  if (rule.mask == ImportanceMask::second_moment) return;  // refused as such
  const bool weighs = table.truncated_importance_cap || (table.importance_mask && *table.importance_mask != "none");
  // A weight asks for a policy that it leads to; the exact one if none is named.
  if (weighs && !table.proximal && rule.proximal == Proximal::behaviour) rule.proximal = Proximal::recompute;
  const std::pair<const char*, Proximal> policies[] = {
      {"recompute", Proximal::recompute}, {"interpolate", Proximal::interpolate}, {"behaviour", Proximal::behaviour}};
  choose(table.proximal, "proximal", "recompute, interpolate or behaviour", policies, &rule.proximal, faults);
  const std::pair<const char*, ImportanceMask> masks[] = {
      {"none", ImportanceMask::none}, {"token", ImportanceMask::token}, {"sequence", ImportanceMask::sequence}};
  choose(table.importance_mask, "importance_mask", "none, token or sequence", masks, &rule.mask, faults);
  if (table.truncated_importance_cap) rule.cap = table.truncated_importance_cap;
  rule.low = table.importance_low.value_or(rule.low);
  rule.high = table.importance_high.value_or(rule.high);
  if (weighs && rule.proximal == Proximal::behaviour) {
    refuse(faults,
           fmt::format("{} has no effect: proximal = 'behaviour'",
                       table.truncated_importance_cap ? "truncated_importance_cap" : "importance_mask"),
           "proximal = \"recompute\" or \"interpolate\"; to the sampler's own record every weight is 1");
  }
  if (rule.mask == ImportanceMask::none && (table.importance_low || table.importance_high)) {
    refuse(faults,
           fmt::format("{} has no effect: importance_mask = 'none'",
                       table.importance_low ? "importance_low" : "importance_high"),
           "importance_mask = \"token\" or \"sequence\"");
  }
  if (rule.low > rule.high) {
    refuse(faults, fmt::format("importance_low = {} is above importance_high = {}", rule.low, rule.high),
           "an interval of weights that holds 1");
  }
}

void apply_aggregation(const AlgorithmTable& table, std::int64_t max_new_tokens, Aggregation& aggregation,
                       Faults& faults) {
  const std::pair<const char*, AggregationKind> kinds[] = {
      {"token_mean", AggregationKind::token_mean},
      {"sequence_mean", AggregationKind::sequence_mean},
      {"sequence_sum_constant", AggregationKind::sequence_sum_constant}};
  choose(table.aggregation, "aggregation", "token_mean, sequence_mean or sequence_sum_constant", kinds,
         &aggregation.kind, faults);
  if (table.aggregation) aggregation.length = static_cast<double>(std::max<std::int64_t>(max_new_tokens, 1));
  aggregation.length = table.aggregation_length.value_or(aggregation.length);
  if (!(aggregation.length > 0)) refuse(faults, "aggregation_length must be above 0", "");
  if (table.aggregation_length && aggregation.kind != AggregationKind::sequence_sum_constant) {
    refuse(faults,
           fmt::format("aggregation_length = {} has no effect: tokens are not summed against a constant",
                       *table.aggregation_length),
           "aggregation = \"sequence_sum_constant\"");
  }
}

void apply_policy(const AlgorithmTable& table, PolicyRule& rule, Faults& faults) {
  if (table.clip_low) rule.clip_low = table.clip_low;
  rule.clip_high = table.clip_high.value_or(rule.clip_high);
  if (table.dual_clip) rule.dual_clip = table.dual_clip;
  if (rule.dual_clip && *rule.dual_clip <= 1)
    refuse(faults, fmt::format("dual_clip = {} would clip tokens on policy", *rule.dual_clip), "above 1, as 3");
  const std::pair<const char*, RatioLevel> levels[] = {
      {"token", RatioLevel::token}, {"sequence", RatioLevel::sequence}, {"sequence_sum", RatioLevel::sequence_sum}};
  choose(table.ratio, "ratio", "token, sequence or sequence_sum", levels, &rule.ratio, faults);
  rule.sapo_tau_positive = table.sapo_tau_positive.value_or(rule.sapo_tau_positive);
  rule.sapo_tau_negative = table.sapo_tau_negative.value_or(rule.sapo_tau_negative);
  rule.opmd_tau = table.opmd_tau.value_or(rule.opmd_tau);
  rule.m2_threshold = table.m2_threshold.value_or(rule.m2_threshold);
  rule.entropy_coefficient = table.entropy_coefficient.value_or(rule.entropy_coefficient);
}

void apply_critic(const AlgorithmTable& table, PolicySettings& s) {
  if (!s.critic) return;
  CriticRule& rule = *s.critic;
  rule.gamma = table.gamma.value_or(rule.gamma);
  if (table.lambda) rule.lambda = rule.target_lambda = *table.lambda;
  if (table.lambda_length) rule.lambda_length = table.lambda_length;
  if (table.value_clip) rule.value_clip = *table.value_clip > 0 ? table.value_clip : std::nullopt;
  rule.value_coefficient = table.value_coefficient.value_or(rule.value_coefficient);
  s.value_iterations = table.value_iterations.value_or(s.value_iterations);
  s.policy.positive_coefficient = table.positive_coefficient.value_or(s.policy.positive_coefficient);
}

void apply_overlong(const AlgorithmTable& table, std::int64_t max_new_tokens, PolicySettings& s, Faults& faults) {
  s.mask_truncated = table.mask_truncated.value_or(s.mask_truncated);
  if (table.overlong_limit || table.overlong_buffer || table.overlong_penalty) {
    const std::int64_t limit = table.overlong_limit.value_or(max_new_tokens);
    s.overlong =
        OverlongShaping{limit, table.overlong_buffer.value_or(limit / 5), table.overlong_penalty.value_or(1.0)};
  }
  if (s.overlong && (s.overlong->buffer < 0 || s.overlong->buffer > s.overlong->limit)) {
    refuse(faults,
           fmt::format("overlong_buffer = {} does not fit overlong_limit = {}", s.overlong->buffer, s.overlong->limit),
           "0 <= overlong_buffer <= overlong_limit, in tokens");
  }
  if (s.overlong && s.overlong->penalty == 0) s.overlong.reset();
}

}  // namespace

PolicySettings policy_settings(const AlgorithmTable& table, const Recipe& recipe, std::int64_t max_new_tokens) {
  PolicySettings s = recipe.settings;
  if (recipe.adapt != nullptr) recipe.adapt(table, s);
  Faults faults;
  refuse_without_use(table, recipe, s, faults);
  apply_baseline(table, s.advantage.baseline, faults);
  apply_kl(table, s, faults);
  apply_importance(table, s.policy.importance, faults);
  apply_aggregation(table, max_new_tokens, s.policy.aggregation, faults);
  apply_policy(table, s.policy, faults);
  apply_critic(table, s);
  apply_overlong(table, max_new_tokens, s, faults);
  s.dynamic_sampling = table.dynamic_sampling.value_or(s.dynamic_sampling);
  if (!faults.empty()) throw Error(ExitCode::config, faults);
  return s;
}

std::unique_ptr<PolicyGradient> make_policy_gradient(const AlgorithmTable& table, const Recipe& recipe,
                                                     std::int64_t max_new_tokens) {
  return std::make_unique<PolicyGradient>(recipe, policy_settings(table, recipe, max_new_tokens));
}

}  // namespace maxplus
