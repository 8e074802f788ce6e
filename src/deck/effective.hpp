#pragma once
// A deck as TOML text.

#include <string>

#include <nlohmann/json.hpp>

#include "deck/tables.hpp"

namespace maxplus {

// A value of TOML: numbers read back to the same bits, a real number always has a point or an exponent.
std::string toml_value(const nlohmann::json& value);

// Every key with its value and its origin (default, deck.toml:31, --set); reads back to an equal deck.
std::string effective_deck(const Deck& deck);

}  // namespace maxplus
