#pragma once
// What a rank needs to be built for a deck: the networks, and shapes of buffers, from the deck and its inputs.

#include "deck/tables.hpp"
#include "roles/engine.hpp"
#include "run/inputs.hpp"

namespace maxplus {

EngineShape engine_shape(const Deck& deck, const RunInputs& inputs);

}  // namespace maxplus
