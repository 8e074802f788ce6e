#pragma once
// The actor's training step: packed forward, loss on the host, backward, gradients summed over slices, AdamW.
//
// Denominators come before gradients: every rank holds the step's experiences, so Algorithm::prepare sees them all. The
// step's slices and their sum are learner.hpp's.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "comm/communicator.hpp"
#include "deck/tables.hpp"
#include "model/transformer.hpp"
#include "rl/algorithms/algorithm.hpp"
#include "rl/packing.hpp"
#include "roles/learner.hpp"
#include "roles/value_step.hpp"
#include "tensor/arena.hpp"

namespace maxplus {

// Sums over the rollouts of a step in rollout order; the same on every rank.
struct StepReport {
  double loss = 0, policy_loss = 0, kl_loss = 0, entropy_mean = 0;
  double ratio_mean = 1, ratio_min = 1, ratio_max = 1, effective_sample_share = 1;
  double kl_old = 0, kl_reference = 0;
  double log_prob_gap_max = 0;
  double clip_share_low = 0, clip_share_high = 0;
  double importance_ratio_max = 1, importance_truncated_share = 0, importance_masked_share = 0;
  double denominator_tokens = 0, denominator_sequences = 0;
  double gradient_norm = 0, update_norm = 0, learning_rate = 0;
  std::int64_t tokens_trained = 0;    // trainable tokens
  std::int64_t tokens_processed = 0;  // rows that went through the network
  std::int64_t pairs = 0;             // of rules that compare answers, and what stands in the next two
  double preference_accuracy = 0, preference_margin = 0;
  bool has_reference = false;
  bool has_policy = true;  // false of a network that scores answers: no ratios, no entropy
  bool has_importance_weights = false;
  std::optional<ValueReport> value;  // of rules with a critic
  bool skipped = false;              // the gradient was not finite, or 0 everywhere, and the weights stayed
};

struct StepRequest {
  std::span<const Experience* const> experiences;  // that take part, in rollout order
  const Algorithm* algorithm = nullptr;
  float inverse_temperature = 1;
  double learning_rate = 0;
  std::int64_t policy_version = 0;  // at the start of the iteration
  OnNotFinite on_not_finite = OnNotFinite::stop;
};

class Trainer {
 public:
  Trainer(Transformer& policy, WeightSet& weights, const OptimizerTable& table, const Stream& stream, Arena& gradients,
          Arena& moments, int data_rank, int data_ranks);

  // One optimizer step (collective). An empty step changes nothing and returns nothing. Throws
  // Error(ExitCode::numeric), with the weights untouched, when the gradient is not finite and OnNotFinite::stop is
  // asked for. `beat` is called between micro-batches.
  std::optional<StepReport> step(const StepRequest& request, const Communicator& data_ranks,
                                 const std::function<void()>& beat);

  // Called with the summed gradient [elements, tied folded] of each step before clipping; for `replay --gradients`.
  void on_gradient(std::function<void(TensorView gradient)> call) { learner_.on_gradient = std::move(call); }

  AdamW& optimizer() { return learner_.optimizer(); }
  // A fresh one: moments zero, no steps taken.
  void reset_optimizer() { learner_.reset_optimizer(); }

 private:
  struct RolloutRecord {
    std::int32_t rollout;
    std::int64_t tokens, clipped_low, clipped_high, weighed, truncated, masked, pairs, pairs_right;
    double loss, policy, kl, ratio_sum, ratio_min, ratio_max, importance_sum, importance_square_sum, importance_max,
        kl_old_sum, kl_reference_sum, entropy_sum, gap_max, margin_sum;
  };
  static RolloutRecord record_of(std::int32_t rollout, const TokenLoss& loss);
  struct StepRecords {
    std::vector<RolloutRecord> policy;
    std::vector<ValueRecord> value;
  };
  void run_micro_batch(const StepRequest& request, const StepStatistics& statistics, const RolloutList& rollouts,
                       StepRecords* records, StepReport* report);
  // What the network says of a micro-batch, a list a rollout.
  struct Said {
    std::vector<std::vector<float>> log_prob, entropy, value;
  };
  Said ask(const StepRequest& request, const MicroBatch& batch);
  bool has_shared_critic(const StepRequest& request) const;
  void summarise(const std::vector<RolloutRecord>& mine, const Communicator& data_ranks, StepReport* report) const;

  Transformer& policy_;
  Learner learner_;
};

}  // namespace maxplus
