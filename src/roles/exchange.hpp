#pragma once
// Experiences travel from the ranks that made them to the ranks that train on them.
//
// Today every rank receives all of them (a rollout is about twenty bytes a token), so that statistics, packing and the
// cut into slices are computed by every rank alike, from the same list in the same order.

#include <vector>

#include "comm/communicator.hpp"
#include "rl/sample.hpp"

namespace maxplus {

// All ranks' experiences in order of rollout id (collective; empty lists take part).
std::vector<Experience> exchange_experiences(const Communicator& ranks, const std::vector<Experience>& mine);

// The items of `count` that a rank works on: index % ranks == rank. Any dealing gives the same bits; this one balances.
std::vector<std::int64_t> dealt_to_rank(std::int64_t count, int rank, int ranks);

}  // namespace maxplus
