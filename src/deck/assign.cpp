// Types, ranges and choices of one value.
#include "deck/assign.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <type_traits>

#include <fmt/format.h>

#include "base/strings.hpp"
#include "deck/effective.hpp"

namespace maxplus {

namespace {

using Kind = DeckValue::Kind;
using Result = std::optional<Refusal>;

Refusal wrong_type(const DeckValue& value) { return {"is " + kind_text(value), ""}; }

bool is_every_k(const std::string& text) {
  constexpr std::string_view kEvery = "every ";
  if (!starts_with(text, kEvery)) return false;
  std::int64_t k = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + kEvery.size(), end, k);
  return error == std::errc() && stop == end && k >= 1;
}

Result assign_whole(std::int64_t& field, const KeyFacts& facts, const DeckValue& value) {
  if (value.kind == Kind::real && std::isfinite(value.real) && std::floor(value.real) == value.real &&
      std::abs(value.real) < 9e15) {
    return Refusal{"is a number with a point",
                   fmt::format("{} = {}", facts.name, static_cast<std::int64_t>(value.real))};
  }
  if (value.kind != Kind::whole) return wrong_type(value);
  if (value.whole < facts.whole_low || value.whole > facts.whole_high) return Refusal{"is out of range", ""};
  field = value.whole;
  return std::nullopt;
}

Result assign_real(double& field, const KeyFacts& facts, const DeckValue& value) {
  if (value.kind != Kind::real && value.kind != Kind::whole) return wrong_type(value);
  const double number = value.kind == Kind::real ? value.real : static_cast<double>(value.whole);
  if (!std::isfinite(number)) return Refusal{"is not a finite number", ""};
  if (number < facts.low || number > facts.high || (facts.low_is_open && number <= facts.low)) {
    return Refusal{"is out of range", ""};
  }
  field = number;
  return std::nullopt;
}

Result assign_string(std::string& field, const KeyFacts& facts, const DeckValue& value, bool may_be_empty,
                     const std::filesystem::path& base) {
  if (value.kind == Kind::whole || value.kind == Kind::real || value.kind == Kind::boolean ||
      value.kind == Kind::date) {
    return Refusal{"is " + kind_text(value) + ", not a string",
                   facts.choices.empty() ? fmt::format("{} = {}", facts.name, quote(value_text(value))) : ""};
  }
  if (value.kind != Kind::text) return wrong_type(value);
  if (value.text.empty()) {
    if (!may_be_empty) return Refusal{"is empty", ""};
    field.clear();
    return std::nullopt;
  }
  if (value.text.find('\0') != std::string::npos && facts.path_kind != PathKind::none) {
    return Refusal{"holds a zero byte", ""};
  }
  const bool chosen =
      facts.choices.empty() || std::find(facts.choices.begin(), facts.choices.end(), value.text) != facts.choices.end();
  if (!chosen && !(facts.every_k && is_every_k(value.text))) {
    const std::optional<std::string> nearest = nearest_known(value.text, facts.choices);
    return Refusal{"is not known" + did_you_mean(value.text, facts.choices),
                   nearest ? fmt::format("{} = {}", facts.name, quote(*nearest)) : ""};
  }
  const bool word = std::find(facts.words.begin(), facts.words.end(), value.text) != facts.words.end();
  field = facts.path_kind == PathKind::none || word ? value.text : absolute_path(base, value.text);
  return std::nullopt;
}

Result assign_list(std::vector<std::string>& field, const KeyFacts& facts, const DeckValue& value) {
  if (value.kind == Kind::text)
    return Refusal{"is a string, not a list", fmt::format("{} = [{}]", facts.name, value_text(value))};
  if (value.kind != Kind::list) return wrong_type(value);
  std::vector<std::string> texts;
  for (const DeckValue& child : value.list) {
    if (child.kind != Kind::text) return Refusal{"holds " + kind_text(child), ""};
    if (child.text.empty()) return Refusal{"holds an empty string", ""};
    texts.push_back(child.text);
  }
  field = std::move(texts);
  return std::nullopt;
}

Result assign_list(std::vector<std::int64_t>& field, const KeyFacts& facts, const DeckValue& value) {
  if (value.kind == Kind::whole)
    return Refusal{"is a number, not a list", fmt::format("{} = [{}]", facts.name, value_text(value))};
  if (value.kind != Kind::list) return wrong_type(value);
  std::vector<std::int64_t> numbers;
  for (const DeckValue& child : value.list) {
    std::int64_t number = 0;
    if (Result refusal = assign_whole(number, facts, child)) return Refusal{"holds a value that " + refusal->found, ""};
    numbers.push_back(number);
  }
  field = std::move(numbers);
  return std::nullopt;
}

Result assign_ranks(RankChoice& field, const DeckValue& value) {
  if (value.kind == Kind::whole && value.whole < 1) return Refusal{"is out of range", ""};
  if (value.kind == Kind::text && value.text.empty()) return Refusal{"is empty", ""};
  if (value.kind != Kind::whole && value.kind != Kind::text) return wrong_type(value);
  field = {value.kind == Kind::whole ? value.whole : 0, value.text};
  return std::nullopt;
}

}  // namespace

std::string absolute_path(const std::filesystem::path& base, const std::string& path) {
  return std::filesystem::absolute(base / path).lexically_normal().string();
}

Result assign(KeyField field, const KeyFacts& facts, const DeckValue& value, const std::filesystem::path& base) {
  const auto one = [&](auto& target, bool may_be_empty) -> Result {
    using Type = std::decay_t<decltype(target)>;
    if constexpr (std::is_same_v<Type, std::int64_t>) {
      return assign_whole(target, facts, value);
    } else if constexpr (std::is_same_v<Type, double>) {
      return assign_real(target, facts, value);
    } else if constexpr (std::is_same_v<Type, bool>) {
      if (value.kind != Kind::boolean) return wrong_type(value);
      target = value.boolean;
      return std::nullopt;
    } else if constexpr (std::is_same_v<Type, std::string>) {
      return assign_string(target, facts, value, may_be_empty, base);
    } else if constexpr (std::is_same_v<Type, RankChoice>) {
      return assign_ranks(target, value);
    } else {
      return assign_list(target, facts, value);
    }
  };
  return std::visit(
      [&](auto* target) -> Result {
        if constexpr (requires { target->has_value(); }) {
          typename std::decay_t<decltype(*target)>::value_type fresh{};
          Result refusal = one(fresh, false);
          if (!refusal) *target = std::move(fresh);
          return refusal;
        } else if constexpr (std::is_same_v<std::decay_t<decltype(*target)>, std::string>) {
          return one(*target, target->empty());  // what is empty by default may be written as empty
        } else {
          return one(*target, false);
        }
      },
      field);
}

}  // namespace maxplus
