#pragma once
// The training step of a critic with a network of its own: values of the step's tokens, their loss on the host,
// backward. Slices, sums and denominators are those of the policy's step (trainer.hpp).

#include <functional>
#include <optional>
#include <vector>

#include "comm/communicator.hpp"
#include "deck/tables.hpp"
#include "model/transformer.hpp"
#include "roles/learner.hpp"
#include "roles/trainer.hpp"
#include "tensor/arena.hpp"

namespace maxplus {

// What [critic] says over [optimizer].
OptimizerTable critic_optimizer(const OptimizerTable& table, const CriticTable& critic);

class CriticTrainer {
 public:
  CriticTrainer(Transformer& critic, WeightSet& weights, const OptimizerTable& table, const Stream& stream,
                Arena& gradients, Arena& moments, int data_rank, int data_ranks);

  // One optimizer step (collective); request.learning_rate is the critic's. An empty step returns nothing.
  std::optional<ValueReport> step(const StepRequest& request, const Communicator& data_ranks,
                                  const std::function<void()>& beat);

  const OptimizerTable& table() const { return table_; }
  AdamW& optimizer() { return learner_.optimizer(); }
  void reset_optimizer() { learner_.reset_optimizer(); }

 private:
  Transformer& critic_;
  OptimizerTable table_;
  Learner learner_;
};

}  // namespace maxplus
