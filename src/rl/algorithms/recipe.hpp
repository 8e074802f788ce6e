#pragma once
// A named learning rule of the policy-gradient kind: its paper's choices, as settings, and which keys mean nothing to
// it.
//
// Every rule is a small file beside this that says where it differs from the common choices below; policy_gradient.hpp
// carries settings out, policy_options.hpp puts a deck's keys over them.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rl/algorithms/advantage.hpp"
#include "rl/algorithms/critic.hpp"
#include "rl/algorithms/kl_controller.hpp"
#include "rl/algorithms/policy_loss.hpp"
#include "rl/algorithms/reward_shaping.hpp"

namespace maxplus {

struct AlgorithmTable;  // deck/tables.hpp

enum class KlWhere : std::uint8_t { loss, reward };

struct KlRule {
  KlEstimator estimator = KlEstimator::none;
  KlWhere where = KlWhere::loss;
  double coefficient = 0.04;  // of what the paper says nothing about: GRPO's
};

// Where a paper is silent: the clipped ratio of tokens at 0.2, std with n - 1 of the group, epsilon 1e-4.
struct PolicySettings {
  std::string name;
  AdvantageRule advantage;
  std::optional<CriticRule> critic;   // advantages come from values; of `advantage` only the whitening is used
  std::int64_t value_iterations = 0;  // at the start, in which the critic learns and the policy does not
  PolicyRule policy;                  // its kl is the one in the loss
  KlRule kl;
  std::optional<KlController> kl_controller;
  std::optional<OverlongShaping> overlong;
  bool mask_truncated = false;
  bool dynamic_sampling = false;  // carried out where rollouts are drawn; listed here for describe()

  bool kl_in_reward() const { return kl.estimator != KlEstimator::none && kl.where == KlWhere::reward; }
  // A verifier's reward after overlong shaping, and what the KL in the reward takes from it at a token.
  double shaped(double reward, std::int64_t tokens) const;
  double kl_price(double log_prob, double reference_log_prob) const;
  // Writes `kl` into policy where it belongs to the loss.
  void place_kl();
};

struct RefusedKey {
  std::string key, reason;
};

struct Recipe {
  std::string name;
  std::string paper;
  PolicySettings settings;
  std::vector<RefusedKey> refused = {};  // keys without a meaning here
  std::vector<std::string> remarks =
      {};  // for describe(): what else differs from the paper, and choices it leaves open
  // What the keys that are given mean for the other defaults; may be empty.
  void (*adapt)(const AlgorithmTable& table, PolicySettings& settings) = nullptr;
};

// nullopt: not the name of such a rule.
std::optional<Recipe> find_recipe(const std::string& name, std::int64_t max_new_tokens);
std::vector<std::string> recipe_names();

}  // namespace maxplus
