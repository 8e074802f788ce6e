#pragma once
// The value's part of a micro-batch, for a critic of its own and for one that shares the policy's network.

#include <cstdint>
#include <span>
#include <vector>

#include "comm/communicator.hpp"
#include "model/transformer.hpp"
#include "rl/algorithms/algorithm.hpp"
#include "rl/packing.hpp"

namespace maxplus {

// Of a step, in rollout order; the same on every rank.
struct ValueReport {
  double loss = 0;        // without value_coefficient
  double clip_share = 0;  // of trainable tokens
  std::int64_t tokens = 0;
  bool own_network = false;  // then also:
  double gradient_norm = 0, update_norm = 0, learning_rate = 0;
  std::int64_t tokens_processed = 0;
  bool skipped = false;
};

struct ValueRecord {
  std::int32_t rollout;
  std::int64_t tokens, clipped;
  double loss;
};

enum class ValueScale { own_network, shared_network };  // the latter weighs by the algorithm's value_coefficient

// After network.forward(batch.batch): gradients of the values, one a target of the batch, and a record a rollout.
std::vector<float> value_gradients(Transformer& network, const MicroBatch& batch,
                                   std::span<const Experience* const> step, const Algorithm& algorithm,
                                   const StepStatistics& statistics, ValueScale scale,
                                   std::vector<ValueRecord>* records);

ValueReport summarise_values(const std::vector<ValueRecord>& mine, const Communicator& data_ranks);

}  // namespace maxplus
