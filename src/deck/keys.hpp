#pragma once
// The listing of every key of a deck: name, field, what is allowed, what it means. It stands once, in keys.cpp.
//
// Reading, the effective deck, --describe, docs/deck.md, the checkpoint's record and the comparison on resume are
// visitors of this listing.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "deck/tables.hpp"

namespace maxplus {

using KeyField = std::variant<std::int64_t*, double*, bool*, std::string*, std::vector<std::string>*,
                              std::vector<std::int64_t>*, std::optional<std::int64_t>*, std::optional<double>*,
                              std::optional<bool>*, std::optional<std::string>*, std::optional<RankChoice>*>;

enum class PathKind { none, input, output };  // input: from the deck's folder; output: from the working directory
enum class OnResume { same, may_change, may_grow };

// What is known of a key. The setters return the object, so that a key of the listing reads as one sentence.
struct KeyFacts {
  KeyFacts(std::string key_name, std::string key_meaning)
      : name(std::move(key_name)), meaning(std::move(key_meaning)) {}

  KeyFacts& from(std::int64_t lowest, std::int64_t highest) {
    whole_low = lowest, whole_high = highest;
    return *this;
  }
  KeyFacts& within(double lowest, double highest) {
    low = lowest, high = highest;
    return *this;
  }
  KeyFacts& above(double bound, double highest) {
    low = bound, high = highest, low_is_open = true;
    return *this;
  }
  KeyFacts& one_of(std::vector<std::string> names) {
    choices = std::move(names);
    return *this;
  }
  KeyFacts& path(PathKind kind) {
    path_kind = kind;
    return *this;
  }
  KeyFacts& unless(std::vector<std::string> names) {
    words = std::move(names);
    return *this;
  }
  KeyFacts& or_every_k() {
    every_k = true;
    return *this;
  }
  KeyFacts& absent(std::string text) {
    absent_text = std::move(text);
    return *this;
  }
  KeyFacts& may_change() {
    on_resume = OnResume::may_change;
    return *this;
  }
  KeyFacts& may_grow() {
    on_resume = OnResume::may_grow;
    return *this;
  }

  std::string name, meaning;
  std::int64_t whole_low = 0, whole_high = std::numeric_limits<std::int64_t>::max();
  double low = std::numeric_limits<double>::lowest(), high = std::numeric_limits<double>::max();
  bool low_is_open = false;
  std::vector<std::string> choices;  // of a string; empty: anything
  bool every_k = false;              // "every 10" is a choice too
  PathKind path_kind = PathKind::none;
  std::vector<std::string> words;  // of a path: these are words, not paths
  std::string absent_text;         // not empty: the default means "not set", and this says what happens then
  OnResume on_resume = OnResume::same;
};

class KeyVisitor {
 public:
  virtual ~KeyVisitor() = default;
  virtual void key(KeyField field, const KeyFacts& facts) = 0;
};

struct TableFacts {
  std::string name;  // "run", "reward.part[0]"; empty: the keys above the first table
  std::string meaning;
};

// Keys that a table takes without listing them, because something it names (a task, a verifier) understands them.
struct ForeignKeys {
  nlohmann::json* values = nullptr;  // nullptr: no such keys
  std::function<bool()> welcome;     // whether something is named; asked after the listed keys are read
  std::string owner;                 // "the task", for messages
};

class DeckVisitor {
 public:
  virtual ~DeckVisitor() = default;
  virtual void table(const TableFacts& facts, const std::function<void(KeyVisitor&)>& keys,
                     const ForeignKeys& foreign) = 0;
  // Whether an optional table shall exist, and how many entries an array of tables shall have.
  virtual bool present(const std::string& name, bool now) = 0;
  virtual std::size_t entries(const std::string& name, std::size_t now) = 0;
};

void visit(Deck& deck, DeckVisitor& visitor);
void visit(AlgorithmTable& table, KeyVisitor& visitor);  // algorithm_keys.cpp

// "a whole number from 1 to 4096", "one of "a", "b"".
std::string allowed_text(const KeyField& field, const KeyFacts& facts);
bool is_optional(const KeyField& field);
nlohmann::json field_value(const KeyField& field);  // null: an optional that is not set

}  // namespace maxplus
