#pragma once
// The algorithm that carries a recipe's settings out: rewards, shaped if asked, become advantages (advantage.hpp); the
// loss is policy_loss.hpp's.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "rl/algorithms/algorithm.hpp"
#include "rl/algorithms/recipe.hpp"

namespace maxplus {

class PolicyGradient final : public Algorithm {
 public:
  // `recipe` as its paper has it, `settings` what is carried out.
  PolicyGradient(Recipe recipe, PolicySettings settings) : recipe_(std::move(recipe)), settings_(std::move(settings)) {}

  Needs needs() const override;
  int smallest_group() const override;
  void fill_advantages(std::span<Experience> whole_groups) const override;
  bool takes_part(const Experience& experience) const override;
  StepStatistics prepare(std::span<const Experience* const> step) const override;
  TokenLoss loss(const TokenTerms& terms, const StepStatistics& statistics) const override;
  ValueLoss value_loss(const ValueTerms& terms, const StepStatistics& statistics) const override;
  double value_coefficient() const override;
  std::int64_t value_iterations() const override { return settings_.value_iterations; }
  std::optional<double> kl_coefficient() const override;
  void set_kl_coefficient(double coefficient) override;
  double next_kl_coefficient(double divergence, std::int64_t rollouts) const override;
  std::vector<std::string> describe() const override;

  // The verifier's reward plus overlong shaping, and what the KL in the reward takes from it.
  JudgedRollout judged(const Experience& experience) const;
  const PolicySettings& settings() const { return settings_; }

 private:
  bool has_baseline(const Experience& experience) const;

  Recipe recipe_;
  PolicySettings settings_;
};

}  // namespace maxplus
