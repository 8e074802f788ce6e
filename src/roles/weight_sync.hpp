#pragma once
// The weight hand-off: from the ranks that train to those that generate without training. On ranks that do both
// nothing moves.

#include <cstdint>
#include <string>

#include "model/transformer.hpp"
#include "roles/relay.hpp"

namespace maxplus {

// Collective over the world of `relay` (holders: the ranks that train). Afterwards every rank has the weights of the
// policy version `version`, which its own count of versions must equal; a taker whose copy does not have the giver's
// hash is Error(suspect) that names its host. Packed copies of the weights are the caller's to make.
void hand_off_weights(const Relay& relay, WeightSet& weights, std::int64_t version);

// Collective over the ranks that the relay joins (holders: those that train). A network `copy` that takes gets the
// weights of `policy` under its names, and `seed` starts its value head. `config` is the copy's; `policy` and `copy`
// are null on ranks that lack them.
void hand_off_copy(const Relay& relay, const ModelConfig& config, const WeightSet* policy, WeightSet* copy,
                   std::uint64_t seed);

}  // namespace maxplus
