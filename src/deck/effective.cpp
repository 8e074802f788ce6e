// The effective deck: what a run does, in a form that starts it again.
#include "deck/effective.hpp"

#include <cmath>
#include <cstddef>

#include <fmt/format.h>

#include "base/strings.hpp"
#include "deck/keys.hpp"

namespace maxplus {

namespace {

constexpr std::size_t kCommentColumn = 44;

std::string toml_real(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string toml_key(const std::string& name) {
  const bool bare =
      !name.empty() &&
      name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == std::string::npos;
  return bare ? name : quote(name);
}

class Writer : public DeckVisitor, private KeyVisitor {
 public:
  explicit Writer(const Deck& deck) : deck_(deck) {}

  void table(const TableFacts& facts, const std::function<void(KeyVisitor&)>& keys,
             const ForeignKeys& foreign) override {
    table_ = facts.name;
    if (!table_.empty()) text_ += fmt::format("\n{}\n", header());
    keys(*this);
    if (!foreign.values) return;
    for (const auto& [name, value] : foreign.values->items()) line(toml_key(name), toml_value(value), origin(name));
  }
  bool present(const std::string&, bool now) override { return now; }
  std::size_t entries(const std::string&, std::size_t now) override { return now; }

  std::string text() const { return text_; }

 private:
  void key(KeyField field, const KeyFacts& facts) override {
    const nlohmann::json value = field_value(field);
    const bool unset =
        value.is_null() || (!facts.absent_text.empty() && !is_optional(field) && (value == 0 || value == ""));
    if (unset) {
      text_ += fmt::format("# {}: not set ({})\n", facts.name, facts.absent_text);
    } else {
      line(facts.name, toml_value(value), origin(facts.name));
    }
  }

  std::string header() const {
    const std::size_t bracket = table_.find('[');
    return bracket == std::string::npos ? fmt::format("[{}]", table_)
                                        : fmt::format("[[{}]]", table_.substr(0, bracket));
  }

  std::string origin(const std::string& key) const {
    const auto found = deck_.origins.find(table_.empty() ? key : table_ + "." + key);
    return found == deck_.origins.end() ? "default" : one_line(found->second);
  }

  void line(const std::string& key, const std::string& value, const std::string& origin) {
    text_ += fmt::format("{:<{}} # {}\n", key + " = " + value, kCommentColumn, origin);
  }

  const Deck& deck_;
  std::string table_, text_;
};

}  // namespace

std::string toml_value(const nlohmann::json& value) {
  if (value.is_string()) return quote(value.get_ref<const std::string&>());
  if (value.is_number_float()) return toml_real(value.get<double>());
  if (value.is_array()) {
    std::vector<std::string> parts;
    for (const auto& child : value) parts.push_back(toml_value(child));
    return fmt::format("[{}]", join(parts, ", "));
  }
  if (value.is_object()) {
    std::vector<std::string> parts;
    for (const auto& [name, child] : value.items()) parts.push_back(toml_key(name) + " = " + toml_value(child));
    return parts.empty() ? "{}" : fmt::format("{{ {} }}", join(parts, ", "));
  }
  return value.is_null() ? "nan" : value.dump();  // whole numbers, true and false
}

std::string effective_deck(const Deck& deck) {
  Deck copy = deck;  // the listing needs fields that could be written to
  Writer writer(deck);
  visit(copy, writer);
  return "# The effective deck: every key, its value, and where the value comes from. It can be run again.\n" +
         writer.text();
}

}  // namespace maxplus
