#include "rl/algorithms/given_keys.hpp"

#include <fmt/format.h>

#include "deck/tables.hpp"

namespace maxplus {

namespace {

template <class Value>
void add_given(std::vector<GivenKey>& keys, const char* name, const std::optional<Value>& value) {
  if (value) keys.push_back({name, fmt::format("{}", *value)});
}

}  // namespace

std::vector<GivenKey> given_keys(const AlgorithmTable& t) {
  std::vector<GivenKey> keys;
  if (t.kl != "none") keys.push_back({"kl", t.kl});
  add_given(keys, "kl_target", t.kl_target);
  add_given(keys, "kl_horizon", t.kl_horizon);
  add_given(keys, "rejection", t.rejection);
  add_given(keys, "clip_low", t.clip_low);
  add_given(keys, "clip_high", t.clip_high);
  add_given(keys, "dual_clip", t.dual_clip);
  add_given(keys, "std", t.std);
  add_given(keys, "scope", t.scope);
  add_given(keys, "epsilon", t.epsilon);
  add_given(keys, "aggregation", t.aggregation);
  add_given(keys, "ratio", t.ratio);
  add_given(keys, "proximal", t.proximal);
  add_given(keys, "truncated_importance_cap", t.truncated_importance_cap);
  add_given(keys, "importance_mask", t.importance_mask);
  add_given(keys, "sapo_tau_positive", t.sapo_tau_positive);
  add_given(keys, "sapo_tau_negative", t.sapo_tau_negative);
  add_given(keys, "opmd_tau", t.opmd_tau);
  add_given(keys, "m2_threshold", t.m2_threshold);
  add_given(keys, "dynamic_sampling", t.dynamic_sampling);
  add_given(keys, "overlong_limit", t.overlong_limit);
  add_given(keys, "overlong_buffer", t.overlong_buffer);
  add_given(keys, "overlong_penalty", t.overlong_penalty);
  add_given(keys, "mask_truncated", t.mask_truncated);
  add_given(keys, "entropy_coefficient", t.entropy_coefficient);
  add_given(keys, "gamma", t.gamma);
  add_given(keys, "lambda", t.lambda);
  add_given(keys, "lambda_length", t.lambda_length);
  add_given(keys, "value_clip", t.value_clip);
  add_given(keys, "value_coefficient", t.value_coefficient);
  add_given(keys, "value_iterations", t.value_iterations);
  add_given(keys, "positive_coefficient", t.positive_coefficient);
  add_given(keys, "beta", t.beta);
  add_given(keys, "label_smoothing", t.label_smoothing);
  add_given(keys, "margin", t.margin);
  add_given(keys, "length_mean", t.length_mean);
  add_given(keys, "desirable_weight", t.desirable_weight);
  add_given(keys, "undesirable_weight", t.undesirable_weight);
  return keys;
}

}  // namespace maxplus
