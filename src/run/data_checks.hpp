#pragma once
// The part of the checks (deck_checks.hpp) that is about where problems come from: [data] and [[data.source]].

#include <string>
#include <vector>

#include "base/error.hpp"
#include "deck/tables.hpp"
#include "run/deck_checks.hpp"

namespace maxplus {

void check_data(const Deck& deck, DeckUse use, std::vector<Fault>& faults);

// "task countdown" is "countdown", "data/train.jsonl" is "train".
std::string name_of_source(const DataSource& source);
// Held-out problems come from a file or from tasks.
bool has_held_out(const DataTable& data);
// Whether all problems have a judge though [reward] names none: they are of tasks or of files with a preset that has
// one, or a source says it.
bool brings_judges(const DataTable& data);

}  // namespace maxplus
