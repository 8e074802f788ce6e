// Reading TOML into the tree of source.hpp: the only file that knows the TOML library.
#include "deck/source.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "base/strings.hpp"
#include "deck/effective.hpp"

namespace maxplus {

namespace {

constexpr std::size_t kShown = 60;               // bytes of a value in a message
constexpr std::size_t kLargestDeck = 256 << 20;  // more is a mistake (a weight file, an endless device)

using Kind = DeckValue::Kind;

DeckValue convert(const toml::node& node, std::int64_t line) {
  DeckValue value;
  value.origin = line;
  if (const auto* table = node.as_table()) {
    value.kind = Kind::table;
    value.table.reserve(table->size());
    for (const auto& [key, child] : *table) {  // in the order of names
      value.table.push_back(
          {std::string(key.str()), convert(child, static_cast<std::int64_t>(key.source().begin.line))});
    }
  } else if (const auto* list = node.as_array()) {
    value.kind = Kind::list;
    for (const toml::node& child : *list) {
      value.list.push_back(convert(child, static_cast<std::int64_t>(child.source().begin.line)));
    }
  } else if (const auto* text = node.as_string()) {
    value.kind = Kind::text;
    value.text = text->get();
  } else if (const auto* whole = node.as_integer()) {
    value.kind = Kind::whole;
    value.whole = whole->get();
  } else if (const auto* real = node.as_floating_point()) {
    value.kind = Kind::real;
    value.real = real->get();
  } else if (const auto* boolean = node.as_boolean()) {
    value.kind = Kind::boolean;
    value.boolean = boolean->get();
  } else {
    value.kind = Kind::date;
    std::ostringstream written;
    if (const auto* date = node.as_date()) written << date->get();
    if (const auto* time = node.as_time()) written << time->get();
    if (const auto* both = node.as_date_time()) written << both->get();
    value.text = written.str();
  }
  return value;
}

DeckValue convert(const nlohmann::json& json) {
  DeckValue value;
  if (json.is_object()) {
    value.kind = Kind::table;
    for (const auto& [name, child] : json.items()) value.table.push_back({name, convert(child)});
  } else if (json.is_array()) {
    value.kind = Kind::list;
    for (const auto& child : json) value.list.push_back(convert(child));
  } else if (json.is_string()) {
    value.kind = Kind::text;
    value.text = json.get<std::string>();
  } else if (json.is_boolean()) {
    value.kind = Kind::boolean;
    value.boolean = json.get<bool>();
  } else if (json.is_number_integer()) {
    value.kind = Kind::whole;
    value.whole = json.get<std::int64_t>();
  } else {
    value.kind = Kind::real;  // null too: it is what JSON makes of NaN
    value.real = json.is_number() ? json.get<double>() : std::numeric_limits<double>::quiet_NaN();
  }
  return value;
}

// The library's sentences, cut to what is wrong and turned into ours.
Fault syntax_fault(const std::string& where, const toml::parse_error& error) {
  std::string text = one_line(std::string(error.description()));
  constexpr std::string_view kRedefine = "cannot redefine existing ";
  const std::size_t twice = text.find(kRedefine);
  const std::size_t open = text.find('\'', twice == std::string::npos ? text.size() : twice);
  const std::size_t close = open == std::string::npos ? open : text.find('\'', open + 1);
  if (close != std::string::npos) {
    const bool table = text.find("table", twice) != std::string::npos || text.find("header") < twice;
    return {where,
            fmt::format("{} '{}' stands twice", table ? "table" : "key", text.substr(open + 1, close - open - 1)),
            "each key and each table once", "keep one of them"};
  }
  constexpr std::string_view kPrefix = "Error while parsing ";
  if (starts_with(text, kPrefix)) text = "in a " + text.substr(kPrefix.size());
  if (starts_with(text, "Encountered ")) text = text.substr(12);
  if (text.find("invalid utf-8") != std::string::npos)
    return {where, "a byte that is not UTF-8", "a text file in UTF-8", "save the deck as UTF-8"};
  return {where, fmt::format("this is not TOML: {} (column {})", text, error.source().begin.column),
          "key = value, with strings in quotes", ""};
}

// The parser follows the parts of a dotted name one call into the other. The number of the first line whose header or
// key has too many; 0: none.
std::int64_t line_of_deep_name(std::string_view toml) {
  constexpr std::ptrdiff_t kMostParts = 1000;
  std::int64_t number = 0;
  while (!toml.empty()) {
    const std::string_view line = toml.substr(0, toml.find('\n'));
    toml.remove_prefix(std::min(line.size() + 1, toml.size()));
    ++number;
    const std::string_view name = line.substr(0, line.find('='));
    if (std::count(name.begin(), name.end(), '.') > kMostParts) return number;
  }
  return 0;
}

std::string read_bytes(const std::string& file) {
  namespace fs = std::filesystem;
  const auto refuse = [&file](const std::string& found) -> std::string {
    throw Error(ExitCode::no_input, Fault{file, found, "a deck: a TOML file that can be read", "check the path"});
  };
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  if (error || status.type() == fs::file_type::not_found) return refuse("there is no such file");
  if (status.type() == fs::file_type::directory) return refuse("this is a folder");
  // Every rank reads the deck, some more than once: what can be read only once is none.
  if (status.type() != fs::file_type::regular) return refuse("this is a pipe or a device");
  std::ifstream stream(file, std::ios::binary);
  if (!stream) return refuse(fmt::format("the file cannot be opened: {}", std::strerror(errno)));
  std::string bytes;
  std::vector<char> piece(1 << 16);
  while (stream.read(piece.data(), static_cast<std::streamsize>(piece.size())) || stream.gcount() > 0) {
    bytes.append(piece.data(), static_cast<std::size_t>(stream.gcount()));
    if (bytes.size() > kLargestDeck) return refuse(fmt::format("the file is larger than {} MiB", kLargestDeck >> 20));
  }
  if (stream.bad()) return refuse(fmt::format("the file cannot be read: {}", std::strerror(errno)));
  return bytes;
}

// The value of a --set argument: TOML, or a bare word. nullopt: neither.
std::optional<DeckValue> read_set_value(std::string_view text) {
  const std::string line = "value = " + std::string(text) + "\n";
  try {
    const toml::table table = toml::parse(std::string_view(line), std::string_view());
    if (table.size() == 1 && table.begin()->first.str() == "value") {
      DeckValue value = convert(table.begin()->second, 0);
      if (value.kind != Kind::date) return value;
    }
  } catch (const toml::parse_error&) {  // a bare word, or a slip in a value
  }
  if (text.empty() || text.find_first_of("\"'[{") == 0 || text.find('\n') != std::string_view::npos)
    return std::nullopt;
  DeckValue word;
  word.kind = Kind::text;
  word.text = std::string(text);
  return word;
}

bool comes_before(const DeckMember& member, std::string_view name) { return member.name < name; }

void mark_origin(DeckValue& value, std::int64_t origin) {
  value.origin = origin;
  for (DeckValue& child : value.list) mark_origin(child, origin);
  for (DeckMember& member : value.table) mark_origin(member.value, origin);
}

}  // namespace

const DeckValue* DeckValue::find(std::string_view name) const {
  const auto found = std::lower_bound(table.begin(), table.end(), name, comes_before);
  return found == table.end() || found->name != name ? nullptr : &found->value;
}

DeckValue& DeckValue::insert(std::string_view name) {
  const auto place = std::lower_bound(table.begin(), table.end(), name, comes_before);
  return table.insert(place, DeckMember{std::string(name), {}})->value;
}

DeckValue* DeckValue::find(std::string_view name) { return const_cast<DeckValue*>(std::as_const(*this).find(name)); }

void DeckSource::read_file(const std::string& file, std::vector<Fault>& faults) {
  read_text(read_bytes(file), file, faults);
}

void DeckSource::read_text(std::string_view toml, const std::string& file, std::vector<Fault>& faults) {
  file_ = file;
  if (const std::int64_t line = line_of_deep_name(toml); line > 0) {
    broken_ = true;
    faults.push_back({where(line), "a name of more than a thousand parts", "table.key", ""});
    return;
  }
  try {
    root_ = convert(toml::parse(toml, std::string_view(file)), 0);
  } catch (const toml::parse_error& error) {
    broken_ = true;
    faults.push_back(syntax_fault(where(static_cast<std::int64_t>(error.source().begin.line)), error));
  }
}

void DeckSource::read_json(const nlohmann::json& json, const std::string& file) {
  file_ = file;
  root_ = convert(json);
}

void DeckSource::add_set(const std::string& argument, std::vector<Fault>& faults) {
  sets_.push_back(argument);
  const auto origin = -static_cast<std::int64_t>(sets_.size());
  const auto refuse = [&](std::string found, std::string expected, std::string advice) {
    faults.push_back({where(origin), std::move(found), std::move(expected), std::move(advice)});
  };
  const std::size_t sign = argument.find('=');
  if (sign == std::string::npos) return refuse("there is no '='", "table.key=value", "--set run.seed=2");
  const std::vector<std::string> names = split(trim(std::string_view(argument).substr(0, sign)), '.');
  const std::string_view text = trim(std::string_view(argument).substr(sign + 1));
  if (std::any_of(names.begin(), names.end(),
                  [](const std::string& name) { return trim(name) != name || name.empty(); })) {
    return refuse("the key is not of the form table.key", "table.key=value", "--set run.seed=2");
  }
  if (text.empty())
    return refuse("there is no value", "table.key=value", "\"\" (in quotes for the shell too) for an empty string");
  std::optional<DeckValue> value = read_set_value(text);
  if (!value)
    return refuse("the value is neither TOML nor a bare word",
                  "a TOML value, for example 2, 0.5, true, \"text\", [\"a\", \"b\"]",
                  "quotes around the whole argument, so that the shell keeps those inside");
  mark_origin(*value, origin);

  DeckValue* table = &root_;
  for (std::size_t i = 0; i + 1 < names.size(); ++i) {
    DeckValue* next = table->find(names[i]);
    if (!next) {
      next = &table->insert(names[i]);
      next->origin = origin;
    }
    if (next->kind == Kind::list)
      return refuse(fmt::format("'{}' is a list of tables, which --set cannot change", names[i]),
                    "a key of a single table", "change it in the deck");
    if (next->kind != Kind::table) return refuse(fmt::format("'{}' is no table", names[i]), "table.key=value", "");
    table = next;
  }
  if (DeckValue* old = table->find(names.back())) {
    *old = std::move(*value);
  } else {
    table->insert(names.back()) = std::move(*value);
  }
}

std::string DeckSource::where(std::int64_t origin) const {
  if (origin > 0) return fmt::format("{}:{}", file_, origin);
  if (origin < 0) return "--set " + shorten(one_line(sets_[static_cast<std::size_t>(-origin - 1)]), kShown);
  return file_;
}

std::string kind_text(const DeckValue& value) {
  switch (value.kind) {
    case Kind::boolean: return "true or false";
    case Kind::whole: return "a whole number";
    case Kind::real: return "a number with a point";
    case Kind::text: return "a string";
    case Kind::date: return "a date or time";
    case Kind::list: return "a list";
    case Kind::table: return "a table";
  }
  return {};
}

nlohmann::json to_json(const DeckValue& value) {
  switch (value.kind) {
    case Kind::boolean: return value.boolean;
    case Kind::whole: return value.whole;
    case Kind::real: return value.real;
    case Kind::text:
    case Kind::date: return value.text;
    case Kind::list: {
      nlohmann::json list = nlohmann::json::array();
      for (const DeckValue& child : value.list) list.push_back(to_json(child));
      return list;
    }
    case Kind::table: {
      nlohmann::json table = nlohmann::json::object();
      for (const DeckMember& member : value.table) table[member.name] = to_json(member.value);
      return table;
    }
  }
  return {};
}

std::string value_text(const DeckValue& value) {
  if (value.kind == Kind::date) return value.text;
  if (value.kind == Kind::text) return quote(shorten(value.text, kShown));
  if (value.kind == Kind::list && value.list.size() > 20) return fmt::format("[... {} values ...]", value.list.size());
  if (value.kind == Kind::table && value.table.size() > 20)
    return fmt::format("{{... {} keys ...}}", value.table.size());
  return shorten(toml_value(to_json(value)), kShown);
}

}  // namespace maxplus
