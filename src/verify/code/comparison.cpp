#include "verify/code/comparison.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace maxplus {

namespace {

constexpr std::string_view kBlanks = " \t\r\n\f\v";
constexpr int kMaxValueDepth = 200;
constexpr std::size_t kManyValues = 32;  // of these the frequent case is looked for first: all equal as texts
constexpr std::int64_t kMostComparisons = 20'000'000;  // about a second; orders chosen to be slow end here

std::string_view next_word(std::string_view& text) {
  const std::size_t begin = std::min(text.find_first_not_of(kBlanks), text.size());
  text.remove_prefix(begin);
  const std::string_view word = text.substr(0, text.find_first_of(kBlanks));
  text.remove_prefix(word.size());
  return word;
}

std::optional<double> decimal_of(std::string_view word) {
  if (word.starts_with('+')) word.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

bool near_enough(double expected, double value, double tolerance) {
  return expected == value || std::abs(value - expected) <= tolerance * std::max(1.0, std::abs(expected));
}

const Json* tagged(const Json& value, const char* tag) {
  return value.is_object() && value.size() == 1 && value.contains(tag) ? &value.at(tag) : nullptr;
}

const Json* list_of(const Json& value) {
  if (value.is_array()) return &value;
  const Json* tuple = tagged(value, "__tuple__");
  return tuple != nullptr && tuple->is_array() ? tuple : nullptr;
}

// Pairs of a dictionary, however it is written.
std::optional<Json> pairs_of(const Json& value) {
  if (!value.is_object()) return std::nullopt;
  if (const Json* pairs = tagged(value, "__dict__")) return pairs->is_array() ? std::optional(*pairs) : std::nullopt;
  for (const char* tag : {"__set__", "__tuple__", "__int__", "__float__"}) {
    if (tagged(value, tag) != nullptr) return std::nullopt;
  }
  Json pairs = Json::array();
  for (const auto& [key, one] : value.items()) pairs.push_back(Json::array({key, one}));
  return pairs;
}

struct Comparing {
  double tolerance;
  std::int64_t left = kMostComparisons;  // of values; then nothing is the same any more
};

bool same(const Json& expected, const Json& value, Comparing& how, int depth);

std::vector<std::string> sorted_texts(const Json& list) {
  std::vector<std::string> texts;
  for (const Json& one : list) texts.push_back(one.dump(-1, ' ', false, Json::error_handler_t::replace));
  std::sort(texts.begin(), texts.end());
  return texts;
}

// Some order of one equals the other. Greedy is enough: equality within a tolerance only matters for fractions.
bool same_without_order(const Json& expected, const Json& value, Comparing& how, int depth) {
  if (!expected.is_array() || !value.is_array() || expected.size() != value.size()) return false;
  if (expected.size() > kManyValues && sorted_texts(expected) == sorted_texts(value)) return true;
  std::vector<char> used(value.size(), 0);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    std::size_t found = value.size();
    for (std::size_t step = 0; step < value.size() && found == value.size(); ++step) {
      const std::size_t j = (i + step) % value.size();  // mostly the order is the same
      if (--how.left < 0) return false;
      if (!used[j] && same(expected[i], value[j], how, depth)) found = j;
    }
    if (found == value.size()) return false;
    used[found] = 1;
  }
  return true;
}

bool same_number(const Json& expected, const Json& value, double tolerance) {
  if (expected.is_number_integer() && value.is_number_integer()) return expected == value;
  const double wanted = expected.get<double>(), given = value.get<double>();
  return near_enough(wanted, given, expected.is_number_integer() ? 0.0 : tolerance);
}

bool same(const Json& expected, const Json& value, Comparing& how, int depth) {
  if (depth > kMaxValueDepth || --how.left < 0) return false;
  if (const Json* wanted = list_of(expected)) {
    const Json* given = list_of(value);
    if (given == nullptr || given->size() != wanted->size()) return false;
    for (std::size_t i = 0; i < wanted->size(); ++i) {
      if (!same((*wanted)[i], (*given)[i], how, depth + 1)) return false;
    }
    return true;
  }
  if (const Json* wanted = tagged(expected, "__set__")) {
    const Json* given = tagged(value, "__set__");
    return given != nullptr && same_without_order(*wanted, *given, how, depth + 1);
  }
  if (expected.is_number() && value.is_number()) return same_number(expected, value, how.tolerance);
  if (const auto wanted = pairs_of(expected)) {
    const auto given = pairs_of(value);
    return given && same_without_order(*wanted, *given, how, depth + 1);
  }
  return expected == value && expected.type() == value.type();
}

}  // namespace

bool same_output(std::string_view expected, std::string_view output, double tolerance) {
  for (;;) {
    const std::string_view wanted = next_word(expected), given = next_word(output);
    if (wanted.empty() || given.empty()) return wanted.empty() && given.empty();
    if (wanted == given) continue;
    if (wanted.find_first_of(".eE") == std::string_view::npos) return false;
    const auto a = decimal_of(wanted), b = decimal_of(given);
    if (!a || !b || !near_enough(*a, *b, tolerance)) return false;
  }
}

bool same_value(const Json& expected, const Json& value, double tolerance) {
  Comparing how = {tolerance};
  return same(expected, value, how, 0);
}

}  // namespace maxplus
