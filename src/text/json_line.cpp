// The checks that the JSON library leaves out, before and while it parses.
#include "text/json_line.hpp"

#include <set>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "text/utf8.hpp"

namespace maxplus {

namespace {

[[noreturn]] void fail(const std::string& where, std::string found, std::string expected, std::string advice) {
  throw Error(ExitCode::data, Fault{where, std::move(found), std::move(expected), std::move(advice)});
}

void check_bytes(std::string_view text, const std::string& where) {
  if (const std::size_t zero = text.find('\0'); zero != std::string_view::npos) {
    fail(where, fmt::format("the line holds a NUL byte at byte {}", zero + 1), "JSON text in UTF-8",
         "convert the file if it is UTF-16, for example with iconv, or repair the line");
  }
  if (const auto bad = first_invalid_utf8(text)) {
    fail(where, fmt::format("the line is not valid UTF-8 at byte {}", *bad + 1), "UTF-8",
         "convert the file, for example with iconv, or repair the line");
  }
}

void check_depth(std::string_view text, const std::string& where) {
  if (is_nested_deeper_than(text, kMaxJsonDepth)) {
    fail(where, "the line is nested too deeply", fmt::format("at most {} levels", kMaxJsonDepth), "flatten the object");
  }
}

// "[json.exception.parse_error.101] parse error at line 1, column 9: syntax error …" without its first half.
std::string cause_of(const char* what) {
  const std::string_view text = what;
  const std::size_t close = text.find("] ");
  std::string_view rest = close == std::string_view::npos ? text : text.substr(close + 2);
  if (const std::size_t colon = rest.find(": ");
      rest.starts_with("parse error at") && colon != std::string_view::npos) {
    rest.remove_prefix(colon + 2);
  }
  std::string line;
  for (const std::string_view point : code_points(rest.substr(0, 160))) {
    const auto byte = static_cast<unsigned char>(point[0]);
    if (point.size() == 1 && (byte < 0x20 || byte >= 0x7F)) continue;
    line += point;
  }
  return line;
}

}  // namespace

bool is_nested_deeper_than(std::string_view json, int levels) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
      continue;
    }
    if (c == '"') in_string = true;
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
    if (depth > levels) return true;
  }
  return false;
}

Json parse_json_line(std::string_view text, const std::string& where) {
  check_bytes(text, where);
  check_depth(text, where);
  std::vector<std::set<std::string>> keys;
  const auto watch = [&](int, Json::parse_event_t event, Json& value) {
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key && !keys.back().insert(value.get<std::string>()).second) {
      fail(where, fmt::format("the key {} stands twice in one object", in_quotes(value.get<std::string>())),
           "each key once", "remove one of them");
    }
    return true;
  };
  try {
    return Json::parse(text.begin(), text.end(), watch);
  } catch (const nlohmann::json::parse_error& error) {
    const bool cut = error.byte > text.size();
    fail(where, fmt::format("not JSON at byte {}: {}", error.byte, cause_of(error.what())), "one JSON object a line",
         cut ? "the line ends too early: was the file cut?" : "repair the line");
  } catch (const nlohmann::json::exception& error) {
    fail(where, fmt::format("not JSON: {}", cause_of(error.what())), "one JSON object a line", "repair the line");
  }
}

Json parse_json_object(std::string_view text, const std::string& where) {
  Json value = parse_json_line(text, where);
  if (!value.is_object()) {
    fail(where,
         fmt::format("the line is {} instead of an object",
                     value.is_null() ? "null" : std::string("a JSON ") + value.type_name()),
         "one JSON object a line", "write {\"prompt\": …, \"answer\": …}");
  }
  return value;
}

}  // namespace maxplus
