#pragma once
// A learning rule in plain host code on spans: nothing about layouts, devices or networks.

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rl/sample.hpp"

namespace maxplus {

struct AlgorithmTable;  // deck/tables.hpp

struct Needs {
  bool reference = false;
  bool critic = false;
  bool proximal = false;       // Experience::proximal_log_prob, before an iteration's first update
  bool greedy_reward = false;  // Assessment::greedy_reward
  bool answer_score = false;   // TokenTerms::value of a network that scores whole answers, and draws none
};

// What a step as a whole must know before its first gradient: summed over every rank and slice (here: known to all
// ranks, since all ranks hold the step's experiences). Denominators before gradients.
struct StepStatistics {
  double tokens = 0;     // trainable tokens that take part
  double sequences = 0;  // rollouts that take part, fully masked ones included
  double largest_square = std::numeric_limits<double>::infinity();  // of the log-ratios that M2PO keeps
  double reference_point = 0;                                       // of KTO
  double positive_tokens = 0;  // trainable tokens of rollouts that were judged correct
};

// One rollout's terms, a response token each. Spans of equal length; empty where there is none and no term needs it.
struct TokenTerms {
  std::span<const float> log_prob;      // of the network being trained, now
  std::span<const float> entropy;       // likewise
  std::span<const float> old_log_prob;  // the sampler's own record
  std::span<const float> reference_log_prob;
  std::span<const float> advantage;
  std::span<const std::uint8_t> trainable;        // 0: whatever stands in the other spans (NaN too) has no influence
  std::span<const float> proximal_log_prob = {};  // of the policy at the start of the iteration
  std::span<const std::int32_t> version = {};     // policy version that a token was drawn with
  std::int64_t policy_version = 0;                // at the start of the iteration
  bool correct = false;                           // the verdict on the rollout
  std::span<const float> value = {};              // with Needs::answer_score, instead of log_prob and entropy
};

// What a rollout adds to the loss of the whole step (already divided by the step's denominators) and its gradient.
struct TokenLoss {
  double loss = 0, policy = 0,
         kl = 0;  // loss = policy + coefficient * kl - coefficient * entropy; kl, policy without coefficient
  std::vector<float> d_log_prob, d_entropy;  // exactly 0 at tokens that are not trainable
  std::vector<float> d_value;                // with Needs::answer_score
  // Raw sums over the rollout's trainable tokens, for metrics
  double ratio_sum = 0, ratio_min = 0, ratio_max = 0;  // of tokens, to the rule's anchor; meaningless where tokens = 0
  double importance_sum = 0, importance_square_sum = 0, importance_max = 0;  // now / when drawn, before any truncation
  double kl_old_sum = 0, kl_reference_sum = 0, entropy_sum = 0;              // k3
  double gap_max = 0;                                                        // |log_prob - old_log_prob|
  std::int64_t tokens = 0, clipped_low = 0, clipped_high = 0;
  std::int64_t importance_weighed = 0;  // tokens, of rules that weigh by importance; among them those whose weight
  std::int64_t importance_truncated = 0, importance_masked = 0;  // was capped, or is 0
  std::int64_t pairs = 0,
               pairs_right = 0;  // of rules that compare answers: the pair stands in its chosen answer's loss
  double margin_sum = 0;         // over pairs, of what the rule compares
};

// The critic's side of a rollout, a response token each.
struct ValueTerms {
  std::span<const float> value;      // of the network being trained, now
  std::span<const float> old_value;  // before the iteration's first update
  std::span<const float> target;     // Experience::value_target
  std::span<const std::uint8_t> trainable;
};

struct ValueLoss {
  double loss = 0;  // divided by the step's denominators, without a coefficient
  std::int64_t tokens = 0, clipped = 0;
  std::vector<float> d_value;  // exactly 0 at tokens that are not trainable
};

class Algorithm {
 public:
  virtual ~Algorithm() = default;
  virtual Needs needs() const = 0;
  virtual int smallest_group() const { return 1; }  // 2 for estimators that compare within a group
  // Whole groups, in rollout order. Fills Experience::advantage, and with a critic value_target (0 where not
  // trainable). Experiences whose verdict does not count take no part in statistics and get 0. Equal rewards, of the
  // group or (estimators that compare over it) of the batch, give exactly 0.
  virtual void fill_advantages(std::span<Experience> whole_groups) const = 0;
  // Whether a rollout takes part in training (mask_truncated, verdicts that do not count, zero-spread groups to drop,
  // ...).
  virtual bool takes_part(const Experience& experience) const = 0;
  virtual StepStatistics prepare(std::span<const Experience* const> step) const = 0;
  virtual TokenLoss loss(const TokenTerms& terms, const StepStatistics& statistics) const = 0;
  // Whether the rollouts of a group that take part must be seen at once: then a step is cut between groups only.
  virtual bool joins_groups() const { return false; }
  // The members of one group that are trained together, all of them if joins_groups(); a loss each, in their order.
  virtual std::vector<TokenLoss> group_loss(std::span<const TokenTerms> members,
                                            const StepStatistics& statistics) const;
  // What an answer is worth to the rule, of rules that compare answers: the more, the better.
  virtual double worth(const TokenTerms&) const { return 0; }
  // With needs().critic only: the loss of the values, and its weight where the policy's network gives them.
  virtual ValueLoss value_loss(const ValueTerms& terms, const StepStatistics& statistics) const;
  virtual double value_coefficient() const { return 1; }
  // Iterations at the start in which only the critic learns.
  virtual std::int64_t value_iterations() const { return 0; }
  // The coefficient of the KL term, where a controller moves it from iteration to iteration: what it is, and what it
  // becomes after one with that mean divergence from the reference.
  virtual std::optional<double> kl_coefficient() const { return std::nullopt; }
  virtual void set_kl_coefficient(double) {}
  virtual double next_kl_coefficient(double, std::int64_t /*rollouts*/) const { return 0; }
  // The estimator, formula and deviations from the paper's defaults, for the log: one line each.
  virtual std::vector<std::string> describe() const = 0;
};

// Whether groups of equal rewards are to be drawn anew: the key, or else the algorithm's own default (dapo: yes).
bool wants_dynamic_sampling(const AlgorithmTable& table);

// Whether the rule learns from a file of pairs or marked answers, so that nothing is drawn or judged.
bool learns_from_answers(const AlgorithmTable& table);
// Algorithm::joins_groups of the rule of that name.
bool joins_groups(const AlgorithmTable& table);

// Throws Error(ExitCode::config) with the nearest name.
std::unique_ptr<Algorithm> make_algorithm(const AlgorithmTable& table, std::int64_t max_new_tokens);
std::vector<std::string> algorithm_names();

}  // namespace maxplus
