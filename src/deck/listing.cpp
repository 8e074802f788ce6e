// Visitors of the listing that need no deck: all names, and the text of --describe.
#include "deck/listing.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/strings.hpp"
#include "deck/deck.hpp"
#include "deck/keys.hpp"

namespace maxplus {

namespace {

class NameCollector : public DeckVisitor, private KeyVisitor {
 public:
  void table(const TableFacts& facts, const std::function<void(KeyVisitor&)>& keys, const ForeignKeys&) override {
    tables.push_back({without_index(facts.name), {}});
    keys(*this);
  }
  bool present(const std::string&, bool) override { return true; }
  std::size_t entries(const std::string&, std::size_t) override { return 1; }

  std::vector<KnownTable> tables;

 private:
  void key(KeyField, const KeyFacts& facts) override { tables.back().keys.push_back(facts.name); }
};

class Describer : public DeckVisitor, private KeyVisitor {
 public:
  void table(const TableFacts& facts, const std::function<void(KeyVisitor&)>& keys,
             const ForeignKeys& foreign) override {
    const std::string name = without_index(facts.name);
    const bool many = name != facts.name;
    const std::string header = name.empty() ? "" : many ? "[[" + name + "]] " : "[" + name + "] ";
    text += fmt::format("{}{}{}\n", text.empty() ? "" : "\n", header, facts.meaning);
    keys(*this);
    if (foreign.values) text += fmt::format("  ... and the keys of {}\n", foreign.owner);
  }
  bool present(const std::string&, bool) override { return true; }
  std::size_t entries(const std::string&, std::size_t) override { return 1; }

  std::string text;

 private:
  void key(KeyField field, const KeyFacts& facts) override {
    const nlohmann::json value = field_value(field);
    const bool unset = value.is_null() || (!facts.absent_text.empty() && !is_optional(field));
    const std::string standard = unset ? "not set: " + facts.absent_text : toml_value(value);
    std::string resume;
    if (facts.on_resume == OnResume::may_change) resume = "; may change on resume";
    if (facts.on_resume == OnResume::may_grow) resume = "; may grow on resume";
    text += fmt::format("  {}\n      {}; default {}{}\n      {}\n", facts.name, allowed_text(field, facts), standard,
                        resume, facts.meaning);
  }
};

}  // namespace

std::string without_index(const std::string& table) { return table.substr(0, table.find('[')); }

std::vector<KnownTable> known_tables() {
  Deck deck;
  NameCollector collector;
  visit(deck, collector);
  return collector.tables;
}

const KnownTable* find_table(const std::vector<KnownTable>& tables, const std::string& name) {
  const auto found =
      std::find_if(tables.begin(), tables.end(), [&name](const KnownTable& t) { return t.name == name; });
  return found == tables.end() ? nullptr : &*found;
}

std::string describe_keys() {
  Deck deck;
  Describer describer;
  visit(deck, describer);
  return describer.text;
}

}  // namespace maxplus
