#include "roles/learner.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "ops/elementwise.hpp"

namespace maxplus {

namespace {

AdamWSettings adamw_settings(const OptimizerTable& table) {
  AdamWSettings settings;
  settings.beta1 = table.beta1;
  settings.beta2 = table.beta2;
  settings.epsilon = table.epsilon;
  settings.weight_decay = table.weight_decay;
  settings.gradient_clip = table.gradient_clip;
  return settings;
}

}  // namespace

Learner::Learner(Transformer& network, WeightSet& weights, const OptimizerTable& table, const Stream& stream,
                 Arena& gradients, Arena& moments, int data_rank, int data_ranks)
    : network_(network),
      weights_(weights),
      table_(table),
      stream_(stream),
      sum_(gradients, weights.gradient_elements(), static_cast<int>(table.gradient_slices), data_rank, data_ranks),
      total_(sum_.first_buffer()),
      optimizer_(weights.parameters(), adamw_settings(table), moments) {}

UpdateReport Learner::step(std::span<const Experience* const> experiences, const StepManner& manner,
                           const Communicator& data_ranks, const std::function<void(const RolloutList&)>& micro_batch,
                           const std::function<void()>& beat) {
  const StepPlan plan =
      plan_step(experiences, static_cast<int>(table_.gradient_slices), table_.micro_batch_tokens, manner.cut);
  const SliceRange range = sum_.range();
  for (int slice = range.first; slice < range.last; ++slice) {
    weights_.bind_gradients(sum_.begin_slice(stream_));
    for (const RolloutList& rollouts : plan.slice[static_cast<std::size_t>(slice)]) {
      micro_batch(rollouts);
      if (beat) beat();
    }
    sum_.end_slice(stream_);
  }
  sum_.finish(stream_, data_ranks, total_);
  weights_.fold_tied_gradient(stream_, total_);
  if (on_gradient) on_gradient(total_);

  const UpdateReport update = optimizer_.step(stream_, total_, manner.learning_rate);
  if (update.skipped && update.gradient_norm != 0 && manner.on_not_finite == OnNotFinite::stop) {
    throw Error(
        ExitCode::numeric,
        Fault{"",
              fmt::format("the gradient of {} {} is not finite (norm {})", manner.what, optimizer_.steps() + 1,
                          update.gradient_norm),
              "finite numbers; the weights are those before the step",
              "a smaller learning_rate, or [run] skip_limit to leave out such steps; the newest checkpoint is good"});
  }
  if (!update.skipped) network_.pack_weights();
  return update;
}

void Learner::reset_optimizer() {
  ops::fill(stream_, optimizer_.first_moment(), 0.0f);
  ops::fill(stream_, optimizer_.second_moment(), 0.0f);
  optimizer_.set_steps(0);
}

}  // namespace maxplus
