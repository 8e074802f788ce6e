#pragma once
// Putting one written value into one field, or saying what is wrong with it.

#include <filesystem>
#include <optional>
#include <string>

#include "deck/keys.hpp"
#include "deck/source.hpp"

namespace maxplus {

// `found` continues the sentence "[run] seed = 5 ..."; nullopt: assigned. A field keeps its value if it is refused.
struct Refusal {
  std::string found;
  std::string advice;
};

std::optional<Refusal> assign(KeyField field, const KeyFacts& facts, const DeckValue& value,
                              const std::filesystem::path& base);

// Absolute, without "." and "..".
std::string absolute_path(const std::filesystem::path& base, const std::string& path);

}  // namespace maxplus
