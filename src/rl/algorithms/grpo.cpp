#include "rl/algorithms/grpo.hpp"

namespace maxplus {

Recipe grpo_recipe() {
  PolicySettings s;
  s.policy.aggregation.kind = AggregationKind::sequence_mean;
  s.kl = {KlEstimator::k3, KlWhere::loss, 0.04};
  return {"grpo", "Shao et al. 2024, arXiv 2402.03300", s};
}

Recipe dr_grpo_recipe(std::int64_t max_new_tokens) {
  PolicySettings s;
  s.advantage.baseline.spread = Spread::none;
  s.policy.aggregation = {AggregationKind::sequence_sum_constant, static_cast<double>(max_new_tokens)};
  return {"dr_grpo", "Liu et al. 2025, arXiv 2503.20783", s};
}

Recipe dapo_recipe(std::int64_t max_new_tokens) {
  PolicySettings s;
  s.policy.clip_high = 0.28;
  s.policy.aggregation.kind = AggregationKind::token_mean;
  s.dynamic_sampling = true;
  s.overlong = OverlongShaping{max_new_tokens, max_new_tokens / 5, 1.0};  // the paper's 4096 of 20480 tokens
  return {"dapo", "Yu et al. 2025, arXiv 2503.14476", s};
}

Recipe gspo_recipe() {
  PolicySettings s;
  s.policy.clip_low = 3e-4;
  s.policy.clip_high = 4e-4;
  s.policy.ratio = RatioLevel::sequence;
  s.policy.aggregation.kind = AggregationKind::sequence_mean;
  return {"gspo", "Zheng et al. 2025, arXiv 2507.18071", s};
}

}  // namespace maxplus
