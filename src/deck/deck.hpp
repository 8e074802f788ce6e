#pragma once
// Reading a deck, writing it, comparing it, explaining its keys.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "deck/effective.hpp"
#include "deck/tables.hpp"

namespace maxplus {

// A deck as far as it could be read, and all that was wrong with it. Keys that were wrong have their default and stand
// in Deck::faulty, so that checks across keys (run/deck_checks) can go on and all faults be listed in one go.
struct DeckReading {
  Deck deck;
  std::vector<Fault> faults;
};

// `set` holds the arguments of --set, "table.key=value". Throws Error(ExitCode::no_input) only.
DeckReading read_deck_and_faults(const std::filesystem::path& file, const std::vector<std::string>& set);
DeckReading empty_deck_and_faults(const std::vector<std::string>& set);
// As from a file named `file` in the working directory.
DeckReading deck_of_text(std::string_view toml, const std::string& file, const std::vector<std::string>& set);

// The same, but throws Error(ExitCode::config) with all faults.
Deck read_deck(const std::filesystem::path& file, const std::vector<std::string>& set);
Deck empty_deck_with(const std::vector<std::string>& set);

// --out: from the working directory, and before everything the deck says.
void set_out(Deck& deck, const std::string& folder);

// All tables and keys: type, range, default, meaning. For --describe and docs/deck.md.
std::string describe_keys();

// For the checkpoint. Origins are not kept. deck_of_record throws Error(ExitCode::data) naming `file`.
nlohmann::json deck_record(const Deck& deck);
Deck deck_of_record(const nlohmann::json& record, const std::string& file);

// The keys that differ and may not differ on resume: "optimizer.learning_rate = 0.002, was 0.001". Empty: go on.
std::vector<std::string> differing_keys(const Deck& before, const Deck& now);

}  // namespace maxplus
