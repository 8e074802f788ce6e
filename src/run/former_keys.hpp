#pragma once
// --set algorithm.name or model.path over a deck that was written for another rule, or for a shape.

#include "deck/tables.hpp"

namespace maxplus {

// Where --set chooses the rule, keys of [algorithm] that the deck's file gives and that have no meaning for that rule
// are left out, each with a note in Deck::notes; where it names a model, so is the file's shape. Keys of --set itself
// stay, so that they are refused.
void leave_out_former_keys(Deck& deck);

}  // namespace maxplus
