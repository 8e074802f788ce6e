// What a field of the listing holds, and in words what it may hold.
#include "deck/keys.hpp"

#include <type_traits>

#include <fmt/format.h>

#include "base/strings.hpp"

namespace maxplus {

namespace {

std::string whole_text(const KeyFacts& facts) {
  if (facts.whole_high == std::numeric_limits<std::int64_t>::max()) {
    return fmt::format("a whole number, {} or more", facts.whole_low);
  }
  return fmt::format("a whole number from {} to {}", facts.whole_low, facts.whole_high);
}

std::string real_text(const KeyFacts& facts) {
  const bool low = facts.low != std::numeric_limits<double>::lowest();
  if (!low) return "a number";
  return facts.low_is_open ? fmt::format("a number above {}, up to {}", facts.low, facts.high)
                           : fmt::format("a number from {} to {}", facts.low, facts.high);
}

std::string listed(const std::vector<std::string>& names) {
  std::vector<std::string> quoted;
  for (const std::string& name : names) quoted.push_back(quote(name));
  return join(quoted, ", ");
}

std::string string_text(const KeyFacts& facts) {
  if (facts.path_kind != PathKind::none) {
    return facts.words.empty() ? "a path" : fmt::format("{} or a path", listed(facts.words));
  }
  if (facts.choices.empty()) return "a string";
  if (facts.every_k) return fmt::format("{} or \"every k\" with a whole number k", listed(facts.choices));
  return join_choices(facts.choices, "or");
}

}  // namespace

void to_json(nlohmann::json& json, const RankChoice& choice) {
  if (choice.count > 0) {
    json = choice.count;
  } else {
    json = choice.text;
  }
}

std::string allowed_text(const KeyField& field, const KeyFacts& facts) {
  return std::visit(
      [&facts](auto* value) -> std::string {
        using Type = std::remove_pointer_t<decltype(value)>;
        if constexpr (std::is_same_v<Type, std::int64_t> || std::is_same_v<Type, std::optional<std::int64_t>>) {
          return whole_text(facts);
        } else if constexpr (std::is_same_v<Type, double> || std::is_same_v<Type, std::optional<double>>) {
          return real_text(facts);
        } else if constexpr (std::is_same_v<Type, bool> || std::is_same_v<Type, std::optional<bool>>) {
          return "true or false";
        } else if constexpr (std::is_same_v<Type, std::vector<std::string>>) {
          return "a list of strings";
        } else if constexpr (std::is_same_v<Type, std::vector<std::int64_t>>) {
          return "a list, each " + whole_text(facts);
        } else if constexpr (std::is_same_v<Type, std::optional<RankChoice>>) {
          return "ranks as \"0-5\" or \"0-2,6\", a number of ranks, or a share as \"75%\"";
        } else {
          return string_text(facts);
        }
      },
      field);
}

bool is_optional(const KeyField& field) {
  return std::visit(
      [](auto* value) {
        return requires { value->has_value(); };
      },
      field);
}

nlohmann::json field_value(const KeyField& field) {
  return std::visit(
      [](auto* value) -> nlohmann::json {
        if constexpr (requires { value->has_value(); }) {
          return value->has_value() ? nlohmann::json(**value) : nlohmann::json();
        } else {
          return nlohmann::json(*value);
        }
      },
      field);
}

}  // namespace maxplus
