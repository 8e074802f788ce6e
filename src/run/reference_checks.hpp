#pragma once
// Whether the keys of [reference] fit each other.

#include <vector>

#include "base/error.hpp"
#include "deck/tables.hpp"

namespace maxplus {

void check_reference(const Deck& deck, std::vector<Fault>& faults);

}  // namespace maxplus
