#pragma once
// The scorer: log-probabilities of given tokens under a network (a frozen reference, or the policy on request).

#include <cstdint>
#include <span>
#include <vector>

#include "model/transformer.hpp"
#include "rl/sample.hpp"

namespace maxplus {

// Of token t of a sequence: the natural log of its probability given those before, and the entropy of the distribution
// it is drawn from, at a temperature. Entry 0 describes no drawing and is 0.
struct ScoredSequence {
  std::vector<float> log_prob, entropy;
};

// A sequence whose tokens [scored_from, end) are asked for.
struct SequenceToScore {
  std::span<const std::int32_t> tokens;
  std::int64_t scored_from = 1;
};

// Of the response tokens of each experience, the log-probability; a prompt that neighbours of a group share, and what
// all prompts begin with, is computed once a batch (rl/packing.hpp).
std::vector<std::vector<float>> score_experiences(Transformer& transformer,
                                                  std::span<const Experience* const> experiences,
                                                  float inverse_temperature, std::int64_t batch_tokens);

// What a critic says where each response token was drawn, likewise.
std::vector<std::vector<float>> value_experiences(Transformer& critic, std::span<const Experience* const> experiences,
                                                  std::int64_t batch_tokens);

// Packs as many sequences a forward as `batch_tokens` and `batch_segments` hold; a sequence longer than `batch_tokens`
// is a bug.
std::vector<ScoredSequence> score_sequences(Transformer& transformer, std::span<const SequenceToScore> sequences,
                                            float inverse_temperature, std::int64_t batch_tokens,
                                            std::int64_t batch_segments);

// What it says after each token of a sequence.
std::vector<std::vector<float>> value_sequences(Transformer& critic, std::span<const SequenceToScore> sequences,
                                                std::int64_t batch_tokens, std::int64_t batch_segments);

}  // namespace maxplus
