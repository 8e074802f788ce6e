#pragma once
// Learning from preferences (preference_loss.hpp): dpo, ipo, simpo, orpo and kto on a file of pairs or marked answers,
// online_dpo on judged rollouts, and reward_model, whose network scores answers, on a file of pairs.
//
// The chosen answer of a group is the one with the largest reward, the rejected one that with the smallest, the first
// of equal ones; a group of equal rewards teaches nothing. A file's chosen answer has reward 1, its rejected one 0.
// What an answer is stands in its advantage: 1 a trainable token of a chosen or good one, -1 of a rejected or bad one.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rl/algorithms/algorithm.hpp"
#include "rl/algorithms/preference_loss.hpp"

namespace maxplus {

struct PreferenceSettings {
  std::string name = "dpo", paper;
  PreferenceRule rule;
  bool online = false;  // answers are drawn and judged
};

class Preference final : public Algorithm {
 public:
  explicit Preference(PreferenceSettings settings, PreferenceSettings paper);

  Needs needs() const override;
  int smallest_group() const override { return settings_.online ? 2 : 1; }
  void fill_advantages(std::span<Experience> whole_groups) const override;
  bool takes_part(const Experience& experience) const override;
  StepStatistics prepare(std::span<const Experience* const> step) const override;
  bool joins_groups() const override { return settings_.rule.of_pairs(); }
  TokenLoss loss(const TokenTerms& terms, const StepStatistics& statistics) const override;  // of kto
  std::vector<TokenLoss> group_loss(std::span<const TokenTerms> members,
                                    const StepStatistics& statistics) const override;
  double worth(const TokenTerms& terms) const override;
  std::vector<std::string> describe() const override;

  const PreferenceSettings& settings() const { return settings_; }

 private:
  PreferenceSettings settings_, paper_;
};

// nullopt: not the name of such a rule.
std::optional<PreferenceSettings> preference_defaults(const std::string& name);
std::vector<std::string> preference_names();
// Throws Error(ExitCode::config) for keys without a meaning, all of them at once.
std::unique_ptr<Preference> make_preference(const AlgorithmTable& table);

}  // namespace maxplus
