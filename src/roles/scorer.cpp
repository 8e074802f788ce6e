#include "roles/scorer.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "rl/packing.hpp"
#include "tensor/token_batch.hpp"

namespace maxplus {

namespace {

// A number a response token: `ask` gives one a target of each micro-batch that went through the network.
template <class Ask>
std::vector<std::vector<float>> of_responses(Transformer& network, std::span<const Experience* const> experiences,
                                             std::int64_t batch_tokens, const Ask& ask) {
  std::vector<std::vector<float>> all;
  const StepPlan plan = plan_step(experiences, 1, batch_tokens);
  for (const RolloutList& rollouts : plan.slice.front()) {
    const MicroBatch batch = build_micro_batch(experiences, rollouts);
    network.forward(batch.batch);
    std::vector<float> of_target(batch.row.size());
    ask(batch, of_target);
    for (std::vector<float>& of_rollout : by_rollout(batch, of_target)) all.push_back(std::move(of_rollout));
  }
  return all;
}

// Some sequences in one batch, each from its first row on.
struct PackedSequences {
  TokenBatch batch;
  std::vector<std::int64_t> first_row;
  std::size_t end = 0;  // the first sequence that is not in it
};

PackedSequences pack_sequences(std::span<const SequenceToScore> sequences, std::size_t first, std::int64_t batch_tokens,
                               std::int64_t batch_segments) {
  PackedSequences packed;
  for (packed.end = first; packed.end < sequences.size(); ++packed.end) {
    const std::span<const std::int32_t> tokens = sequences[packed.end].tokens;
    const auto length = static_cast<std::int64_t>(tokens.size());
    MAXPLUS_REQUIRE(length <= batch_tokens, "a sequence is longer than a batch");
    const bool full = packed.batch.tokens() + length > batch_tokens || packed.batch.segments() == batch_segments;
    if (packed.end > first && full) break;
    packed.first_row.push_back(packed.batch.tokens());
    packed.batch.append(tokens, -1);
  }
  return packed;
}

}  // namespace

std::vector<std::vector<float>> score_experiences(Transformer& transformer,
                                                  std::span<const Experience* const> experiences,
                                                  float inverse_temperature, std::int64_t batch_tokens) {
  return of_responses(transformer, experiences, batch_tokens, [&](const MicroBatch& batch, std::span<float> log_prob) {
    std::vector<float> entropy(log_prob.size());
    transformer.score(HeadTargets{batch.row, batch.target}, inverse_temperature, log_prob, entropy);
  });
}

std::vector<std::vector<float>> value_experiences(Transformer& critic, std::span<const Experience* const> experiences,
                                                  std::int64_t batch_tokens) {
  return of_responses(critic, experiences, batch_tokens,
                      [&](const MicroBatch& batch, std::span<float> value) { critic.values(batch.row, value); });
}

std::vector<ScoredSequence> score_sequences(Transformer& transformer, std::span<const SequenceToScore> sequences,
                                            float inverse_temperature, std::int64_t batch_tokens,
                                            std::int64_t batch_segments) {
  std::vector<ScoredSequence> scored(sequences.size());
  for (std::size_t first = 0; first < sequences.size();) {
    const PackedSequences packed = pack_sequences(sequences, first, batch_tokens, batch_segments);
    HeadTargets targets;
    for (std::size_t s = first; s < packed.end; ++s) {
      const std::span<const std::int32_t> tokens = sequences[s].tokens;
      const std::int64_t row = packed.first_row[s - first];
      for (auto t = std::max<std::int64_t>(1, sequences[s].scored_from); t < std::ssize(tokens); ++t) {
        targets.row.push_back(static_cast<std::int32_t>(row + t - 1));
        targets.target.push_back(tokens[static_cast<std::size_t>(t)]);
      }
    }
    std::vector<float> log_prob(targets.row.size()), entropy(targets.row.size());
    transformer.forward(packed.batch);
    transformer.score(targets, inverse_temperature, log_prob, entropy);
    std::size_t value = 0;
    for (std::size_t s = first; s < packed.end; ++s) {
      const std::size_t length = sequences[s].tokens.size();
      scored[s].log_prob.assign(length, 0.0f);
      scored[s].entropy.assign(length, 0.0f);
      const auto from = static_cast<std::size_t>(std::max<std::int64_t>(1, sequences[s].scored_from));
      for (std::size_t t = from; t < length; ++t, ++value) {
        scored[s].log_prob[t] = log_prob[value];
        scored[s].entropy[t] = entropy[value];
      }
    }
    first = packed.end;
  }
  return scored;
}

std::vector<std::vector<float>> value_sequences(Transformer& critic, std::span<const SequenceToScore> sequences,
                                                std::int64_t batch_tokens, std::int64_t batch_segments) {
  std::vector<std::vector<float>> values;
  for (std::size_t first = 0; first < sequences.size();) {
    const PackedSequences packed = pack_sequences(sequences, first, batch_tokens, batch_segments);
    std::vector<std::int32_t> row;
    for (std::int64_t r = 0; r < packed.batch.tokens(); ++r) row.push_back(static_cast<std::int32_t>(r));
    std::vector<float> of_row(row.size());
    critic.forward(packed.batch);
    critic.values(row, of_row);
    for (std::size_t s = first; s < packed.end; ++s) {
      const auto begin = of_row.begin() + packed.first_row[s - first];
      values.emplace_back(begin, begin + std::ssize(sequences[s].tokens));
    }
    first = packed.end;
  }
  return values;
}

}  // namespace maxplus
