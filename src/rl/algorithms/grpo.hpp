#pragma once
// Group-relative policy optimisation and its kin: one rule, several named sets of defaults.
//
//   grpo     Shao et al., "DeepSeekMath", 2024, arXiv 2402.03300
//   dr_grpo  Liu et al., "Understanding R1-Zero-like training", 2025, arXiv 2503.20783
//   dapo     Yu et al., "DAPO", 2025, arXiv 2503.14476
//   gspo     Zheng et al., "Group sequence policy optimization", 2025, arXiv 2507.18071
//
// The rule: rewards, shaped if asked, are compared within a group (group_baseline.hpp); every trainable token of a
// rollout has its rollout's advantage; the loss is the clipped policy loss (clipped_policy.hpp).

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "deck/tables.hpp"
#include "rl/algorithms/algorithm.hpp"
#include "rl/algorithms/clipped_policy.hpp"
#include "rl/algorithms/group_baseline.hpp"

namespace maxplus {

// DAPO's soft punishment of long answers: 0 up to limit - buffer tokens, then linear down to -1 at limit, -1 beyond.
struct OverlongShaping {
  std::int64_t limit = 0, buffer = 0;
  double penalty = 1;  // what -1 is worth in reward
};
double overlong_share(std::int64_t tokens, std::int64_t limit, std::int64_t buffer);

struct GrpoSettings {
  std::string name = "grpo";
  BaselineRule baseline;
  ClippedPolicy policy;  // its kl is the one in the loss
  KlEstimator kl_in_reward = KlEstimator::none;
  double kl_reward_coefficient = 0;
  std::optional<OverlongShaping> overlong;
  bool mask_truncated = false;
  bool dynamic_sampling = false;  // carried out where rollouts are drawn; listed here for describe()
};

// The set of defaults of a name with the table's keys over it. Throws Error(ExitCode::config).
GrpoSettings grpo_settings(const AlgorithmTable& table, std::int64_t max_new_tokens);
std::vector<std::string> grpo_names();

class Grpo final : public Algorithm {
 public:
  Grpo(GrpoSettings settings, GrpoSettings paper) : settings_(std::move(settings)), paper_(std::move(paper)) {}

  Needs needs() const override;
  int smallest_group() const override { return 2; }
  void fill_advantages(std::span<Experience> whole_groups) const override;
  bool takes_part(const Experience& experience) const override;
  StepStatistics prepare(std::span<const Experience* const> step) const override;
  TokenLoss loss(const TokenTerms& terms, const StepStatistics& statistics) const override;
  std::vector<std::string> describe() const override;

  // The reward that is compared: the verifier's, plus overlong shaping, minus the KL in the reward. The raw one stays
  // in Assessment::reward, which is what metrics and records show.
  double shaped_reward(const Experience& experience) const;
  const GrpoSettings& settings() const { return settings_; }

 private:
  GrpoSettings settings_;
  GrpoSettings paper_;
};

std::unique_ptr<Algorithm> make_grpo(const AlgorithmTable& table, std::int64_t max_new_tokens);

}  // namespace maxplus
