// Filling a Deck; see the header. Messages follow one pattern: "[table] key = value is ...", what is allowed, a value
// to try.
#include "deck/reader.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/strings.hpp"
#include "deck/assign.hpp"
#include "deck/effective.hpp"

namespace maxplus {

namespace {

using Kind = DeckValue::Kind;
constexpr std::size_t kMostFaults = 200;

// Laid down in the deck's contract, but of no effect in this version: refused rather than ignored.
const std::vector<std::string>& tables_of_later_versions() {
  static const std::vector<std::string> names = {"parallel"};
  return names;
}

// What a table of the deck may hold besides keys: "part" of "reward".
std::vector<std::string> subtables(const std::vector<KnownTable>& known, const std::string& table) {
  const std::string prefix = table.empty() ? "" : table + ".";
  std::vector<std::string> names;
  for (const KnownTable& candidate : known) {
    const std::string& name = candidate.name;
    if (name.empty() || !starts_with(name, prefix) || name.find('.', prefix.size()) != std::string::npos) continue;
    names.push_back(name.substr(prefix.size()));
  }
  return names;
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_finite(const DeckValue& value) {
  return (value.kind != Kind::real || std::isfinite(value.real)) &&
         std::all_of(value.list.begin(), value.list.end(), is_finite) &&
         std::all_of(value.table.begin(), value.table.end(), [](const DeckMember& m) { return is_finite(m.value); });
}

// The verifier `command` names programs and scripts: those that lie beside the deck are found from anywhere.
void resolve_command(DeckValue& command, const std::filesystem::path& base) {
  for (std::size_t i = 0; i < command.list.size(); ++i) {
    DeckValue& word = command.list[i];
    if (word.kind != Kind::text || word.text.empty() || word.text.front() == '-') continue;
    const bool has_slash = word.text.find('/') != std::string::npos;
    if (i == 0 && !has_slash) continue;  // looked up in PATH
    std::error_code error;
    if (i == 0 || std::filesystem::is_regular_file(base / word.text, error)) word.text = absolute_path(base, word.text);
  }
}

}  // namespace

DeckReader::DeckReader(const DeckSource& source, Deck& deck, std::filesystem::path folder)
    : source_(source),
      deck_(deck),
      folder_(std::move(folder)),
      working_directory_(std::filesystem::current_path()),
      known_(known_tables()) {}

std::string DeckReader::title() const {
  if (table_.empty()) return "";
  return table_ == without_index(table_) ? "[" + table_ + "] " : "[[" + without_index(table_) + "]] ";
}

const std::filesystem::path& DeckReader::base(const DeckValue& value, PathKind kind) const {
  return value.origin < 0 || kind == PathKind::output ? working_directory_ : folder_;
}

void DeckReader::add(const DeckValue& value, std::string found, std::string expected, std::string advice) {
  if (faults_.size() >= kMostFaults) {
    ++omitted_;
    return;
  }
  faults_.emplace_back(DeckSource::order(value.origin),
                       Fault{source_.where(value.origin), std::move(found), std::move(expected), std::move(advice)});
}

std::vector<Fault> DeckReader::take_faults() {
  std::stable_sort(faults_.begin(), faults_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Fault> faults;
  for (auto& [order, fault] : faults_) faults.push_back(std::move(fault));
  if (omitted_ > 0)
    faults.push_back(
        {source_.file(), fmt::format("{} more faults are not listed", omitted_), "", "mend those above first"});
  return faults;
}

void DeckReader::refuse_table(const std::string& name, const DeckValue& value) {
  deck_.faulty.insert(name);
  if (value.kind == Kind::list) {
    add(value, fmt::format("[[{}]] is a list of tables", name), fmt::format("[{}], once", name),
        fmt::format("[{}]", name));
  } else {
    add(value, fmt::format("{} = {} is {}", name, value_text(value), kind_text(value)),
        fmt::format("a table: [{}] and its keys below", name), "");
  }
}

const DeckValue* DeckReader::find(const std::string& table) {
  if (table.empty()) return &source_.root();
  const std::size_t bracket = table.find('['), dot = table.find('.');
  if (dot == std::string::npos) {
    const DeckValue* value = source_.root().find(table);
    if (!value || value->kind == Kind::table) return value;
    if (deck_.faulty.count(table) == 0) refuse_table(table, *value);
    return nullptr;
  }
  // An entry of an array of tables; entries() has seen that the array is one.
  const DeckValue* list = source_.root().find(table.substr(0, dot))->find(table.substr(dot + 1, bracket - dot - 1));
  const DeckValue& entry = list->list[static_cast<std::size_t>(std::stoll(table.substr(bracket + 1)))];
  if (entry.kind == Kind::table) return &entry;
  deck_.faulty.insert(table);
  add(entry, fmt::format("[[{}]] holds {}", without_index(table), kind_text(entry)), "tables only", "");
  return nullptr;
}

bool DeckReader::present(const std::string& name, bool) { return find(name) != nullptr; }

std::size_t DeckReader::entries(const std::string& name, std::size_t) {
  const std::size_t dot = name.find('.');
  const DeckValue* parent = find(name.substr(0, dot));
  const DeckValue* list = parent ? parent->find(name.substr(dot + 1)) : nullptr;
  if (!list) return 0;
  if (list->kind == Kind::list) return list->list.size();
  deck_.faulty.insert(name);
  if (list->origin < 0) {
    add(*list, fmt::format("'{}' is a list of tables, which --set cannot change", name.substr(dot + 1)),
        "a key of a single table", "change it in the deck");
  } else {
    add(*list, fmt::format("[{}] is {}", name, kind_text(*list)), fmt::format("a list of tables: [[{}]]", name),
        fmt::format("[[{}]]", name));
  }
  return 0;
}

void DeckReader::table(const TableFacts& facts, const std::function<void(KeyVisitor&)>& keys,
                       const ForeignKeys& foreign) {
  table_ = facts.name;
  current_ = find(table_);
  if (!current_) return;
  if (!table_.empty()) deck_.origins[table_] = source_.where(current_->origin);
  keys(*this);
  read_rest(*current_, foreign);
}

void DeckReader::key(KeyField field, const KeyFacts& facts) {
  const DeckValue* value = current_->find(facts.name);
  if (!value) return;
  const std::string full = full_name(facts.name);
  deck_.origins[full] = source_.where(value->origin);
  const nlohmann::json standard = field_value(field);
  const std::optional<Refusal> refusal = assign(field, facts, *value, base(*value, facts.path_kind));
  if (!refusal) return;
  deck_.faulty.insert(full);
  std::string advice = refusal->advice;
  const bool has_default =
      !standard.is_null() && standard != "" && (facts.absent_text.empty() || standard != 0) && !standard.is_array();
  if (advice.empty() && has_default && facts.path_kind == PathKind::none) {
    advice = fmt::format("{} = {} (the default)", facts.name, toml_value(standard));
  }
  add(*value, fmt::format("{}{} = {} {}", title(), facts.name, value_text(*value), refusal->found),
      allowed_text(field, facts), advice);
}

void DeckReader::read_rest(const DeckValue& table, const ForeignKeys& foreign) {
  const std::string name = without_index(table_);
  const KnownTable* known = find_table(known_, name);
  const std::vector<std::string> below = subtables(known_, name);
  const bool welcome = foreign.values && foreign.welcome();
  // A task or verifier that could not be read would have taken keys that nobody can judge now.
  const bool unclear =
      foreign.values && (deck_.faulty.count(full_name("task")) > 0 || deck_.faulty.count(full_name("verifier")) > 0);
  for (const DeckMember& member : table.table) {
    if (contains(known->keys, member.name) || contains(below, member.name)) continue;
    if (table_.empty() && member.value.kind != Kind::text && !contains(known->keys, member.name)) {
      unknown_table(member);
    } else if (welcome) {
      read_foreign(member, foreign);
    } else if (!unclear) {
      unknown(member, foreign);
    }
  }
}

void DeckReader::read_foreign(const DeckMember& member, const ForeignKeys& foreign) {
  deck_.origins[full_name(member.name)] = source_.where(member.value.origin);
  if (member.value.kind == Kind::date || !is_finite(member.value)) {
    deck_.faulty.insert(full_name(member.name));
    add(member.value,
        fmt::format("{}{} = {} is {}", title(), member.name, value_text(member.value),
                    member.value.kind == Kind::date ? "a date or time" : "not finite"),
        "a string, a finite number, true or false, or a list or table of them", "");
    return;
  }
  nlohmann::json& target = (*foreign.values)[member.name];
  if (member.name != "command" || member.value.kind != Kind::list) {
    target = to_json(member.value);
    return;
  }
  DeckValue command = member.value;
  resolve_command(command, base(command, PathKind::input));
  target = to_json(command);
}

void DeckReader::unknown(const DeckMember& member, const ForeignKeys& foreign) {
  if (faults_.size() >= kMostFaults) {
    ++omitted_;
    return;
  }
  const KnownTable& here = *find_table(known_, without_index(table_));
  std::string name = one_line(shorten(member.name, 64));
  std::string found = fmt::format("unknown key '{}' {}", name,
                                  table_.empty() ? "above the first table" : "in " + std::string(trim(title())));
  std::string advice;
  if (const auto nearest = nearest_known(member.name, here.keys)) {
    deck_.faulty.insert(full_name(*nearest));
    found += fmt::format("; did you mean '{}'?", *nearest);
    advice = fmt::format("{} = {}", *nearest, value_text(member.value));
  } else {
    const auto owner =
        std::find_if(known_.begin(), known_.end(), [&](const KnownTable& t) { return contains(t.keys, member.name); });
    if (owner != known_.end()) {
      deck_.faulty.insert((owner->name.empty() ? "" : owner->name + ".") + member.name);
      found +=
          owner->name.empty() ? "; it belongs above the first table" : fmt::format("; it belongs in [{}]", owner->name);
    }
    advice = "maxplus train --describe lists all keys";
  }
  std::string expected = join(here.keys, ", ");
  if (foreign.values) expected += fmt::format("; {} has keys of its own, if it is named in this table", foreign.owner);
  add(member.value, std::move(found), std::move(expected), std::move(advice));
}

void DeckReader::unknown_table(const DeckMember& member) {
  if (faults_.size() >= kMostFaults) {
    ++omitted_;
    return;
  }
  const std::vector<std::string> tables = subtables(known_, "");
  const bool is_table =
      member.value.kind == Kind::table || (!member.value.list.empty() && member.value.list.front().kind == Kind::table);
  if (!is_table) return unknown(member, {});
  const std::string name = one_line(shorten(member.name, 64));
  if (contains(tables_of_later_versions(), member.name)) {
    add(member.value, fmt::format("table [{}] is not supported by this version", name),
        "all roles on all ranks, data parallel: " + join(tables, ", "), "remove the table");
    return;
  }
  std::string advice = "maxplus train --describe lists all tables";
  if (const auto nearest = nearest_known(member.name, tables)) {
    deck_.faulty.insert(*nearest);
    advice = fmt::format("[{}]", *nearest);
  }
  add(member.value, fmt::format("unknown table [{}]{}", name, did_you_mean(member.name, tables)), join(tables, ", "),
      advice);
}

}  // namespace maxplus
