#pragma once
// Words and signs that the grammar of `math` knows, and one way of writing for each.

#include <optional>
#include <string>
#include <string_view>

namespace maxplus::math {

// Signs of Unicode as LaTeX, dashes and blanks as ASCII.
std::string with_latex_signs(std::string_view text);

// \leq -> <=, \cdot -> *, \varnothing -> emptyset, dfrac -> frac, …: the sign or the command; "" for a command that
// only shapes (\left, \displaystyle); nothing for an unknown one.
struct Spelling {
  enum class Kind { blank, sign, command, symbol };
  Kind kind;
  std::string_view text;
};
std::optional<Spelling> spelling_of(std::string_view command);

bool is_function(std::string_view name);  // sin, ln, …

// One name for a unit in all its spellings: "centimeters" -> "cm"; an unknown one in lower case without a plural s.
std::string unit_name(std::string_view words);
bool is_bare_unit(std::string_view letters);  // known without \text: 12 cm
// Words that change the number before them, so that they are none: 5 million, 3 or 4, not 12.
bool may_be_unit(std::string_view words);

// Lower case, one blank between words, without punctuation and parentheses at the ends. A single letter keeps its case.
std::string normal_words(std::string_view words);

}  // namespace maxplus::math
