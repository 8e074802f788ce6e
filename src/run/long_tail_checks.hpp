#pragma once
// Checks of the keys that keep a few long answers from holding up an iteration.

#include <vector>

#include "base/error.hpp"
#include "deck/tables.hpp"

namespace maxplus {

void check_long_tails(const Deck& deck, std::vector<Fault>& faults);

}  // namespace maxplus
