// Checked reading of keys; see the header.
#include "text/key_reader.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "text/utf8.hpp"

namespace maxplus {

namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

}  // namespace

std::string nearest_name(std::string_view name, const std::vector<std::string>& known) {
  std::string best;
  std::size_t least = std::max<std::size_t>(2, name.size() / 3) + 1;
  for (const std::string& candidate : known) {
    const std::size_t distance = edit_distance(name, candidate);
    if (distance < least) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}

KeyReader::KeyReader(const nlohmann::json& object, std::string table, Locate locate)
    : object_(object), table_(std::move(table)), locate_(std::move(locate)) {
  if (!object_.is_object() && !object_.is_null())
    add_fault("", "the keys are not a table", "a table of keys", "write key = value");
}

KeyReader::~KeyReader() = default;

const nlohmann::json* KeyReader::find(std::string_view name) const {
  if (!object_.is_object()) return nullptr;
  const auto found = object_.find(std::string(name));
  return found == object_.end() ? nullptr : &*found;
}

bool KeyReader::given(std::string_view name) const { return find(name) != nullptr; }

void KeyReader::describe(std::string_view name, std::string kind, std::string standard, std::string_view meaning) {
  descriptions_.push_back({std::string(name), std::move(kind), std::move(standard), std::string(meaning)});
}

void KeyReader::add_fault(std::string_view key, std::string found, std::string expected, std::string advice) {
  faults_.push_back({locate_ ? locate_(key) : std::string(), fmt::format("{}: {}", table_, found), std::move(expected),
                     std::move(advice)});
}

std::int64_t KeyReader::integer(std::string_view name, std::int64_t standard, std::int64_t low, std::int64_t high,
                                std::string_view meaning) {
  const std::string kind = fmt::format("integer in [{}, {}]", low, high);
  describe(name, kind, fmt::format("{}", standard), meaning);
  const nlohmann::json* value = find(name);
  if (value == nullptr) return standard;
  const bool fits =
      value->is_number_integer() && !(value->is_number_unsigned() && value->get<std::uint64_t>() > INT64_MAX);
  if (!fits || value->get<std::int64_t>() < low || value->get<std::int64_t>() > high) {
    add_fault(name, fmt::format("{} = {} does not do", name, value->dump()), kind,
              fmt::format("{} = {}", name, standard));
    return standard;
  }
  return value->get<std::int64_t>();
}

double KeyReader::number(std::string_view name, double standard, double low, double high, std::string_view meaning) {
  const std::string kind = fmt::format("number in [{}, {}]", low, high);
  describe(name, kind, fmt::format("{}", standard), meaning);
  const nlohmann::json* value = find(name);
  if (value == nullptr) return standard;
  const double x = value->is_number() ? value->get<double>() : std::nan("");
  if (!(x >= low && x <= high)) {
    add_fault(name, fmt::format("{} = {} does not do", name, value->dump()), kind,
              fmt::format("{} = {}", name, standard));
    return standard;
  }
  return x;
}

std::string KeyReader::text(std::string_view name, std::string_view standard, std::string_view meaning) {
  describe(name, "text", fmt::format("\"{}\"", standard), meaning);
  const nlohmann::json* value = find(name);
  if (value == nullptr) return std::string(standard);
  if (!value->is_string()) {
    add_fault(name, fmt::format("{} = {} does not do", name, value->dump()), "text in quotes",
              fmt::format("{} = \"…\"", name));
    return std::string(standard);
  }
  return value->get<std::string>();
}

std::string KeyReader::choice(std::string_view name, std::string_view standard,
                              const std::vector<std::string_view>& choices, std::string_view meaning) {
  const std::string kind = fmt::format("\"{}\"", fmt::join(choices, "\" | \""));
  describe(name, kind, fmt::format("\"{}\"", standard), meaning);
  const nlohmann::json* value = find(name);
  if (value == nullptr) return std::string(standard);
  const std::string chosen = value->is_string() ? value->get<std::string>() : std::string();
  if (std::find(choices.begin(), choices.end(), chosen) == choices.end()) {
    add_fault(name, fmt::format("{} = {} does not do", name, value->dump()), kind,
              fmt::format("{} = \"{}\"", name, standard));
    return std::string(standard);
  }
  return chosen;
}

std::vector<std::string> KeyReader::texts(std::string_view name, std::string_view meaning) {
  describe(name, "list of texts", "[]", meaning);
  const nlohmann::json* value = find(name);
  if (value == nullptr) return {};
  std::vector<std::string> list;
  bool good = value->is_array();
  if (good) {
    for (const auto& entry : *value) {
      good = good && entry.is_string();
      if (entry.is_string()) list.push_back(entry.get<std::string>());
    }
  }
  if (!good) {
    add_fault(name, fmt::format("{} = {} does not do", name, value->dump()), "a list of texts",
              fmt::format("{} = [\"…\", \"…\"]", name));
    return {};
  }
  return list;
}

void KeyReader::refuse_unknown() {
  if (!object_.is_object()) return;
  std::vector<std::string> known;
  for (const KeyDescription& key : descriptions_) known.push_back(key.name);
  for (const auto& [name, value] : object_.items()) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::string near = nearest_name(name, known);
    add_fault(
        name,
        fmt::format("unknown key {}{}", in_quotes(name), near.empty() ? "" : fmt::format("; did you mean '{}'?", near)),
        known.empty() ? "no keys" : fmt::format("one of {}", fmt::join(known, ", ")),
        near.empty() ? "remove it" : fmt::format("{} = …", near));
  }
}

}  // namespace maxplus
