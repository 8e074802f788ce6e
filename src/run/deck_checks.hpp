#pragma once
// Checks of a deck across its keys. They open no file, allocate nothing and give the same answer on every rank.
//
// Keys that were already found wrong (Deck::faulty) take no part, so that one slip is told once. What needs the model,
// the tokenizer or the problems is checked where those are opened (run/inputs).

#include <vector>

#include "base/error.hpp"
#include "deck/tables.hpp"

namespace maxplus {

enum class DeckUse {
  train,
  replay,    // train from recorded rollouts: nothing is drawn or judged
  evaluate,  // held-out problems only
  model,     // generate, logprob, inspect: [model] and [tokenizer] only
};

void check_deck(const Deck& deck, DeckUse use, int ranks, std::vector<Fault>& faults);

}  // namespace maxplus
