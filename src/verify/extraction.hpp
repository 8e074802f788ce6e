#pragma once
// Where in a response the answer stands, and what the gold answer is as text.

#include <optional>
#include <string>
#include <string_view>

#include "rl/sample.hpp"

namespace maxplus {

// The inside of the last complete <answer>…</answer>.
std::optional<std::string_view> last_answer_tag(std::string_view response);
// The inside of the last \boxed{…} or \fbox{…} with balanced braces (escaped ones do not count), or the digits of the
// last \boxed 6. Takes time in proportion to the text.
std::optional<std::string_view> last_box(std::string_view response);

// Text as it is, trimmed; a number in its shortest decimal form. Nothing for an empty text or any other kind of value.
std::optional<std::string> gold_text(const Json& answer);

// The value of a key that stands in the answer (an object) or among the other keys of the problem; null if in neither.
const Json* find_given(const Problem& problem, const char* key);

}  // namespace maxplus
