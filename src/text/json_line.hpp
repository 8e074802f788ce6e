#pragma once
// One line of a JSONL file as a JSON value, strictly: valid UTF-8, no NUL, no key twice, no number that overflows, and
// no nesting so deep that a stack could overflow later.

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "base/error.hpp"

namespace maxplus {

using Json = nlohmann::ordered_json;

inline constexpr int kMaxJsonDepth = 64;

// Whether brackets stand in one another more than so many levels deep, those inside strings left out: asked before a
// parser sees the text, which may be anything.
bool is_nested_deeper_than(std::string_view json, int levels);

// Throws Error(ExitCode::data) with `where` ("file:line").
Json parse_json_line(std::string_view text, const std::string& where);
// The same, and the value must be an object.
Json parse_json_object(std::string_view text, const std::string& where);

}  // namespace maxplus
