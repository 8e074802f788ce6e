#pragma once
// What a user wrote, before anybody knows what it means: a tree of values, each with the place it stands at.
//
// The TOML library is used in source.cpp only. A --set argument becomes a value in the same tree, so that a deck and
// its overrides are read, checked and blamed in one way.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/error.hpp"

namespace maxplus {

struct DeckMember;

struct DeckValue {
  enum class Kind { boolean, whole, real, text, date, list, table };
  Kind kind = Kind::table;
  bool boolean = false;
  std::int64_t whole = 0;
  double real = 0;
  std::string text;
  std::vector<DeckValue> list;
  std::vector<DeckMember> table;  // by name, so that a large one is searched quickly
  // A line of the deck (from 1), or minus the number of the --set argument (from 1); 0: neither.
  std::int64_t origin = 0;

  DeckValue* find(std::string_view name);
  const DeckValue* find(std::string_view name) const;
  DeckValue& insert(std::string_view name);  // precondition: it is not there
};

struct DeckMember {
  std::string name;
  DeckValue value;
};

class DeckSource {
 public:
  // Throws Error(ExitCode::no_input) if the file cannot be read. What cannot be understood becomes a fault.
  void read_file(const std::string& file, std::vector<Fault>& faults);
  void read_text(std::string_view toml, const std::string& file, std::vector<Fault>& faults);
  void read_json(const nlohmann::json& json, const std::string& file);
  // "table.key=value"; put over what the file says. The last of equals counts.
  void add_set(const std::string& argument, std::vector<Fault>& faults);

  const DeckValue& root() const { return root_; }
  const std::string& file() const { return file_; }
  bool is_broken() const { return broken_; }  // no TOML: whatever is missing proves nothing
  std::string where(std::int64_t origin) const;
  // In the order a reader meets them: lines, then --set arguments.
  static std::int64_t order(std::int64_t origin) { return origin >= 0 ? origin : (std::int64_t{1} << 40) - origin; }

 private:
  DeckValue root_;
  std::string file_;
  std::vector<std::string> sets_;
  bool broken_ = false;
};

std::string kind_text(const DeckValue& value);   // "a whole number"
std::string value_text(const DeckValue& value);  // as TOML, at most 60 bytes
nlohmann::json to_json(const DeckValue& value);

}  // namespace maxplus
