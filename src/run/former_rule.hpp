#pragma once
// `--set algorithm.name=OTHER` over a deck that was written for another rule.

#include "deck/tables.hpp"

namespace maxplus {

// Where --set chooses the rule, keys of [algorithm] that the deck's file gives and that have no meaning for that rule
// are left out, each with a note in Deck::notes. Keys of --set itself stay, so that they are refused.
void leave_out_keys_of_former_rule(Deck& deck);

}  // namespace maxplus
