#include "roles/critic_trainer.hpp"

#include <utility>

namespace maxplus {

OptimizerTable critic_optimizer(const OptimizerTable& table, const CriticTable& critic) {
  OptimizerTable own = table;
  own.learning_rate = critic.learning_rate.value_or(table.learning_rate);
  own.warmup_steps = critic.warmup_steps.value_or(table.warmup_steps);
  own.weight_decay = critic.weight_decay.value_or(table.weight_decay);
  own.gradient_clip = critic.gradient_clip.value_or(table.gradient_clip);
  return own;
}

CriticTrainer::CriticTrainer(Transformer& critic, WeightSet& weights, const OptimizerTable& table, const Stream& stream,
                             Arena& gradients, Arena& moments, int data_rank, int data_ranks)
    : critic_(critic),
      table_(table),
      learner_(critic, weights, table, stream, gradients, moments, data_rank, data_ranks) {}

std::optional<ValueReport> CriticTrainer::step(const StepRequest& request, const Communicator& data_ranks,
                                               const std::function<void()>& beat) {
  if (request.experiences.empty()) return std::nullopt;
  const StepStatistics statistics = request.algorithm->prepare(request.experiences);
  if (statistics.tokens == 0) return std::nullopt;
  std::vector<ValueRecord> records;
  std::int64_t processed = 0;
  const auto micro_batch = [&](const RolloutList& rollouts) {
    const MicroBatch batch = build_micro_batch(request.experiences, rollouts);
    processed += batch.batch.tokens();
    critic_.forward(batch.batch);
    const std::vector<float> d_value = value_gradients(critic_, batch, request.experiences, *request.algorithm,
                                                       statistics, ValueScale::own_network, &records);
    critic_.backward({{}, {}, d_value});
  };
  const StepManner manner{request.learning_rate, request.on_not_finite, GroupCut::anywhere,
                          "the critic's optimizer step"};
  const UpdateReport update = learner_.step(request.experiences, manner, data_ranks, micro_batch, beat);
  ValueReport report = summarise_values(records, data_ranks);
  report.own_network = true;
  report.gradient_norm = update.gradient_norm;
  report.update_norm = update.update_norm;
  report.learning_rate = request.learning_rate;
  report.tokens_processed = data_ranks.sum(processed);
  report.skipped = update.skipped;
  return report;
}

}  // namespace maxplus
