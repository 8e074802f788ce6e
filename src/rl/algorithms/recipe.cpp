// The policy-gradient rules by name. A new one is a file beside this and a line here.
#include "rl/algorithms/recipe.hpp"

#include <algorithm>

#include "rl/algorithms/cispo.hpp"
#include "rl/algorithms/decoupled_ppo.hpp"
#include "rl/algorithms/grpo.hpp"
#include "rl/algorithms/m2po.hpp"
#include "rl/algorithms/maxrl.hpp"
#include "rl/algorithms/opmd.hpp"
#include "rl/algorithms/ppo.hpp"
#include "rl/algorithms/reinforce.hpp"
#include "rl/algorithms/reinforce_pp.hpp"
#include "rl/algorithms/rloo.hpp"
#include "rl/algorithms/sapo.hpp"

namespace maxplus {

namespace {

std::vector<Recipe> recipes(std::int64_t max_new_tokens) {
  return {reinforce_recipe(),
          grpo_recipe(),
          dr_grpo_recipe(max_new_tokens),
          dapo_recipe(max_new_tokens),
          rloo_recipe(),
          reinforce_pp_recipe(),
          reinforce_pp_baseline_recipe(),
          remax_recipe(),
          gspo_recipe(),
          cispo_recipe(),
          sapo_recipe(),
          maxrl_recipe(),
          opmd_recipe(),
          ppo_recipe(),
          vapo_recipe(),
          decoupled_ppo_recipe(),
          m2po_recipe()};
}

}  // namespace

double PolicySettings::shaped(double reward, std::int64_t tokens) const {
  return overlong ? reward + overlong->penalty * overlong_share(tokens, overlong->limit, overlong->buffer) : reward;
}

double PolicySettings::kl_price(double log_prob, double reference_log_prob) const {
  return kl.coefficient * kl_term(kl.estimator, log_prob, reference_log_prob).value;
}

void PolicySettings::place_kl() {
  const bool in_loss = kl.estimator != KlEstimator::none && kl.where == KlWhere::loss;
  policy.kl = in_loss ? kl.estimator : KlEstimator::none;
  policy.kl_coefficient = in_loss ? kl.coefficient : 0.0;
}

std::optional<Recipe> find_recipe(const std::string& name, std::int64_t max_new_tokens) {
  const std::int64_t length = std::max<std::int64_t>(max_new_tokens, 1);
  for (Recipe& recipe : recipes(length)) {
    if (recipe.name != name) continue;
    recipe.settings.name = name;
    // What aggregation_length is where another aggregation is asked for.
    if (recipe.settings.policy.aggregation.kind != AggregationKind::sequence_sum_constant)
      recipe.settings.policy.aggregation.length = static_cast<double>(length);
    recipe.settings.place_kl();
    return std::move(recipe);
  }
  return std::nullopt;
}

std::vector<std::string> recipe_names() {
  std::vector<std::string> names;
  for (const Recipe& recipe : recipes(1)) names.push_back(recipe.name);
  return names;
}

}  // namespace maxplus
