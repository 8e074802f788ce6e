#pragma once
// Whether [reward_model], and the learning rule that trains one, fit the rest of a deck.

#include <vector>

#include "base/error.hpp"
#include "deck/tables.hpp"
#include "rl/algorithms/algorithm.hpp"

namespace maxplus {

void check_reward_model(const Deck& deck, const Algorithm& algorithm, std::vector<Fault>& faults);

}  // namespace maxplus
