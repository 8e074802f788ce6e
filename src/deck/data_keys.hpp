#pragma once
// The part of the listing (keys.hpp) that is about problems: [data] and [[data.source]].

#include "deck/keys.hpp"

namespace maxplus {

void visit_data(DataTable& data, DeckVisitor& visitor);

}  // namespace maxplus
