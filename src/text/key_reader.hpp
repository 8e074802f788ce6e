#pragma once
// Reads the own keys of a task or a verifier: each key is listed once, with default, range and meaning, and from that
// listing come the value, the faults (all of them, with file and line) and the documentation.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/error.hpp"

namespace maxplus {

// "deck.toml:31" of a key, or "" where it is not known. The empty key asks for the table itself.
using Locate = std::function<std::string(std::string_view key)>;

struct KeyDescription {
  std::string name, kind, standard, meaning;  // kind with the range: "number in [0, 1]"
};

class KeyReader {
 public:
  // `table` as a user knows it: "[data] task = \"operators\"". `object`: the keys that were given; null: none.
  KeyReader(const nlohmann::json& object, std::string table, Locate locate);
  ~KeyReader();
  KeyReader(const KeyReader&) = delete;
  KeyReader& operator=(const KeyReader&) = delete;

  std::int64_t integer(std::string_view name, std::int64_t standard, std::int64_t low, std::int64_t high,
                       std::string_view meaning);
  double number(std::string_view name, double standard, double low, double high, std::string_view meaning);
  std::string text(std::string_view name, std::string_view standard, std::string_view meaning);
  std::string choice(std::string_view name, std::string_view standard, const std::vector<std::string_view>& choices,
                     std::string_view meaning);
  std::vector<std::string> texts(std::string_view name, std::string_view meaning);  // default: none

  bool given(std::string_view name) const;
  void add_fault(std::string_view key, std::string found, std::string expected, std::string advice);
  // Call when every key has been asked for: what is left over becomes a fault with the nearest known name.
  void refuse_unknown();

  const std::vector<Fault>& faults() const { return faults_; }
  const std::vector<KeyDescription>& descriptions() const { return descriptions_; }

 private:
  const nlohmann::json* find(std::string_view name) const;
  void describe(std::string_view name, std::string kind, std::string standard, std::string_view meaning);

  const nlohmann::json& object_;
  std::string table_;
  Locate locate_;
  std::vector<Fault> faults_;
  std::vector<KeyDescription> descriptions_;
};

// Of the known names the one that differs least from `name`, if it is near enough to be a slip; else "".
std::string nearest_name(std::string_view name, const std::vector<std::string>& known);

}  // namespace maxplus
