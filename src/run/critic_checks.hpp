#pragma once
// Whether [critic] and the learning rule fit each other.

#include <vector>

#include "base/error.hpp"
#include "deck/tables.hpp"
#include "rl/algorithms/algorithm.hpp"

namespace maxplus {

// A rule that needs a critic does not make one by itself: a table that is not there is not built.
void check_critic(const Deck& deck, const Algorithm& algorithm, std::vector<Fault>& faults);

}  // namespace maxplus
