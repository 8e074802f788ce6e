#include "roles/scorer.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "rl/packing.hpp"
#include "tensor/token_batch.hpp"

namespace maxplus {

std::vector<std::vector<float>> score_experiences(Transformer& transformer,
                                                  std::span<const Experience* const> experiences,
                                                  float inverse_temperature, std::int64_t batch_tokens) {
  std::vector<std::vector<float>> scored;
  const StepPlan plan = plan_step(experiences, 1, batch_tokens);
  for (const RolloutList& rollouts : plan.slice.front()) {
    const MicroBatch batch = build_micro_batch(experiences, rollouts);
    std::vector<float> log_prob(batch.row.size()), entropy(batch.row.size());
    transformer.forward(batch.batch);
    transformer.score(HeadTargets{batch.row, batch.target}, inverse_temperature, log_prob, entropy);
    for (std::vector<float>& of_rollout : by_rollout(batch, log_prob)) scored.push_back(std::move(of_rollout));
  }
  return scored;
}

std::vector<ScoredSequence> score_sequences(Transformer& transformer, std::span<const SequenceToScore> sequences,
                                            float inverse_temperature, std::int64_t batch_tokens,
                                            std::int64_t batch_segments) {
  std::vector<ScoredSequence> scored(sequences.size());
  std::size_t next = 0;
  while (next < sequences.size()) {
    TokenBatch batch;
    HeadTargets targets;
    const std::size_t first = next;
    for (; next < sequences.size(); ++next) {
      const std::span<const std::int32_t> tokens = sequences[next].tokens;
      const auto length = static_cast<std::int64_t>(tokens.size());
      MAXPLUS_REQUIRE(length <= batch_tokens, "a sequence is longer than a batch");
      if (next > first && (batch.tokens() + length > batch_tokens || batch.segments() == batch_segments)) break;
      const std::int64_t row = batch.tokens();
      batch.append(tokens, -1);
      for (std::int64_t t = std::max<std::int64_t>(1, sequences[next].scored_from); t < length; ++t) {
        targets.row.push_back(static_cast<std::int32_t>(row + t - 1));
        targets.target.push_back(tokens[static_cast<std::size_t>(t)]);
      }
    }
    std::vector<float> log_prob(targets.row.size()), entropy(targets.row.size());
    transformer.forward(batch);
    transformer.score(targets, inverse_temperature, log_prob, entropy);
    std::size_t value = 0;
    for (std::size_t s = first; s < next; ++s) {
      const auto length = static_cast<std::int64_t>(sequences[s].tokens.size());
      scored[s].log_prob.assign(static_cast<std::size_t>(length), 0.0f);
      scored[s].entropy.assign(static_cast<std::size_t>(length), 0.0f);
      for (std::int64_t t = std::max<std::int64_t>(1, sequences[s].scored_from); t < length; ++t, ++value) {
        scored[s].log_prob[static_cast<std::size_t>(t)] = log_prob[value];
        scored[s].entropy[static_cast<std::size_t>(t)] = entropy[value];
      }
    }
  }
  return scored;
}

}  // namespace maxplus
