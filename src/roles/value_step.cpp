#include "roles/value_step.hpp"

#include <algorithm>
#include <utility>

#include "roles/learner.hpp"

namespace maxplus {

std::vector<float> value_gradients(Transformer& network, const MicroBatch& batch,
                                   std::span<const Experience* const> step, const Algorithm& algorithm,
                                   const StepStatistics& statistics, ValueScale scale,
                                   std::vector<ValueRecord>* records) {
  std::vector<float> value(batch.row.size());
  network.values(batch.row, value);
  const std::vector<std::vector<float>> now = by_rollout(batch, value);
  const double weight = scale == ValueScale::shared_network ? algorithm.value_coefficient() : 1.0;
  std::vector<std::vector<float>> d_value;
  for (std::size_t r = 0; r < batch.rollouts.size(); ++r) {
    const Experience& experience = *step[static_cast<std::size_t>(batch.rollouts[r])];
    ValueTerms terms;
    terms.value = now[r];
    terms.old_value = experience.assessment.value;
    terms.target = experience.value_target;
    terms.trainable = experience.rollout.trainable;
    ValueLoss loss = algorithm.value_loss(terms, statistics);
    records->push_back({static_cast<std::int32_t>(batch.rollouts[r]), loss.tokens, loss.clipped, loss.loss});
    if (weight != 1.0) {
      for (float& d : loss.d_value) d = static_cast<float>(weight * static_cast<double>(d));
    }
    d_value.push_back(std::move(loss.d_value));
  }
  return by_target(batch, d_value);
}

ValueReport summarise_values(const std::vector<ValueRecord>& mine, const Communicator& data_ranks) {
  ValueReport report;
  std::int64_t clipped = 0;
  for (const ValueRecord& record : gather_records(mine, data_ranks)) {
    report.loss += record.loss;
    report.tokens += record.tokens;
    clipped += record.clipped;
  }
  report.clip_share = static_cast<double>(clipped) / static_cast<double>(std::max<std::int64_t>(report.tokens, 1));
  return report;
}

}  // namespace maxplus
