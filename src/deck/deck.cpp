// Reading from each kind of source, and what follows from it.
#include "deck/deck.hpp"

#include <map>
#include <utility>

#include <fmt/format.h>

#include "deck/assign.hpp"
#include "deck/reader.hpp"

namespace maxplus {

namespace {

DeckReading read(DeckSource& source, const std::filesystem::path& folder, const std::vector<std::string>& set,
                 std::vector<Fault> faults) {
  for (const std::string& argument : set) source.add_set(argument, faults);
  DeckReading reading;
  reading.deck.file = source.file();
  DeckReader reader(source, reading.deck, folder);
  visit(reading.deck, reader);
  reading.faults = reader.take_faults();
  // What is no TOML, and what is no --set, come first: they may explain the rest.
  reading.faults.insert(reading.faults.begin(), std::make_move_iterator(faults.begin()),
                        std::make_move_iterator(faults.end()));
  if (source.is_broken()) reading.deck.faulty.insert("*");
  reading.deck.run.out = absolute_path(std::filesystem::current_path(), reading.deck.run.out);
  return reading;
}

Deck take(DeckReading reading) {
  if (!reading.faults.empty()) throw Error(ExitCode::config, std::move(reading.faults));
  return std::move(reading.deck);
}

// All keys of a deck by full name, with what may happen to them on resume.
class Flattener : public DeckVisitor, private KeyVisitor {
 public:
  struct Entry {
    nlohmann::json value;
    OnResume on_resume = OnResume::same;
  };

  void table(const TableFacts& facts, const std::function<void(KeyVisitor&)>& keys,
             const ForeignKeys& foreign) override {
    table_ = facts.name;
    keys(*this);
    if (!foreign.values) return;
    for (const auto& [name, value] : foreign.values->items())
      entries_out[table_ + "." + name] = {value, OnResume::same};
  }
  bool present(const std::string&, bool now) override { return now; }
  std::size_t entries(const std::string&, std::size_t now) override { return now; }

  std::map<std::string, Entry> entries_out;

 private:
  void key(KeyField field, const KeyFacts& facts) override {
    entries_out[table_.empty() ? facts.name : table_ + "." + facts.name] = {field_value(field), facts.on_resume};
  }
  std::string table_;
};

std::map<std::string, Flattener::Entry> flatten(Deck deck) {
  Flattener flattener;
  visit(deck, flattener);
  return std::move(flattener.entries_out);
}

// The tree that the reader reads again. Keys that are not set are left out.
class Recorder : public DeckVisitor, private KeyVisitor {
 public:
  void table(const TableFacts& facts, const std::function<void(KeyVisitor&)>& keys,
             const ForeignKeys& foreign) override {
    const std::size_t dot = facts.name.find('.');
    const std::string name = without_index(facts.name);
    if (name.empty()) {
      target_ = &record;
    } else if (dot == std::string::npos) {
      target_ = &(record[name] = nlohmann::json::object());
    } else {
      target_ = &record[name.substr(0, dot)][name.substr(dot + 1)].emplace_back(nlohmann::json::object());
    }
    keys(*this);
    if (foreign.values) target_->update(*foreign.values);
  }
  bool present(const std::string&, bool now) override { return now; }
  std::size_t entries(const std::string&, std::size_t now) override { return now; }

  nlohmann::json record = nlohmann::json::object();

 private:
  void key(KeyField field, const KeyFacts& facts) override {
    nlohmann::json value = field_value(field);
    const bool unset = !facts.absent_text.empty() && !is_optional(field) && (value == 0 || value == "");
    if (!value.is_null() && !unset) (*target_)[facts.name] = std::move(value);
  }
  nlohmann::json* target_ = nullptr;
};

}  // namespace

std::string Deck::where(const std::string& key) const {
  for (std::string name = key;;) {
    const auto found = origins.find(name);
    if (found != origins.end()) return found->second;
    const std::size_t dot = name.rfind('.');
    if (dot == std::string::npos) return file;
    name.resize(dot);
  }
}

DeckReading read_deck_and_faults(const std::filesystem::path& file, const std::vector<std::string>& set) {
  DeckSource source;
  std::vector<Fault> faults;
  source.read_file(file.string(), faults);
  return read(source, std::filesystem::absolute(file).parent_path(), set, std::move(faults));
}

DeckReading empty_deck_and_faults(const std::vector<std::string>& set) {
  DeckSource source;
  return read(source, std::filesystem::current_path(), set, {});
}

DeckReading deck_of_text(std::string_view toml, const std::string& file, const std::vector<std::string>& set) {
  DeckSource source;
  std::vector<Fault> faults;
  source.read_text(toml, file, faults);
  return read(source, std::filesystem::current_path(), set, std::move(faults));
}

Deck read_deck(const std::filesystem::path& file, const std::vector<std::string>& set) {
  return take(read_deck_and_faults(file, set));
}

Deck empty_deck_with(const std::vector<std::string>& set) { return take(empty_deck_and_faults(set)); }

void set_out(Deck& deck, const std::string& folder) {
  deck.run.out = absolute_path(std::filesystem::current_path(), folder);
  deck.origins["run.out"] = "--out";
}

nlohmann::json deck_record(const Deck& deck) {
  Deck copy = deck;
  Recorder recorder;
  visit(copy, recorder);
  return std::move(recorder.record);
}

Deck deck_of_record(const nlohmann::json& record, const std::string& file) {
  if (!record.is_object())
    throw Error(ExitCode::data, Fault{file, "the record of the deck is no object", "a checkpoint of this version", ""});
  DeckSource source;
  source.read_json(record, file);
  DeckReading reading = read(source, std::filesystem::current_path(), {}, {});
  if (!reading.faults.empty()) throw Error(ExitCode::data, std::move(reading.faults));
  reading.deck.origins.clear();
  return std::move(reading.deck);
}

std::vector<std::string> differing_keys(const Deck& before, const Deck& now) {
  const auto old_keys = flatten(before), new_keys = flatten(now);
  const auto text = [](const nlohmann::json& value) {
    return value.is_null() ? std::string("not set") : toml_value(value);
  };
  std::vector<std::string> lines;
  for (const auto& [name, entry] : new_keys) {
    const auto found = old_keys.find(name);
    const nlohmann::json old_value = found == old_keys.end() ? nlohmann::json() : found->second.value;
    if (entry.value == old_value || entry.on_resume == OnResume::may_change) continue;
    if (entry.on_resume == OnResume::may_grow && entry.value > old_value) continue;
    lines.push_back(fmt::format("{} = {}, was {}", name, text(entry.value), text(old_value)));
  }
  for (const auto& [name, entry] : old_keys) {
    if (new_keys.count(name) == 0 && !entry.value.is_null())
      lines.push_back(fmt::format("{} not set, was {}", name, text(entry.value)));
  }
  return lines;
}

}  // namespace maxplus
