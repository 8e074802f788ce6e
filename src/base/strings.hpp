#pragma once
// Small helpers on text: trimming, joining, quoting, and the nearest name to a misspelt one.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace maxplus {

std::string_view trim(std::string_view text);  // blanks, tabs and line ends on both sides
std::string join(const std::vector<std::string>& parts, std::string_view separator);
// "a", "b" or "c": quoted names for a sentence.
std::string join_choices(const std::vector<std::string>& names, std::string_view last_word);
std::vector<std::string> split(std::string_view text, char separator);  // n separators give n + 1 parts
bool starts_with(std::string_view text, std::string_view beginning);
std::string lower_case(std::string_view text);  // ASCII only

// In double quotes, with escapes that TOML and JSON share; bytes that are no UTF-8 stay as they are.
std::string quote(std::string_view text);
// At most `bytes` long, cut between code points, with "..." at the end if anything was cut.
std::string shorten(std::string_view text, std::size_t bytes);
// One line: line ends become blanks, other control characters '?'.
std::string one_line(std::string_view text);

// Insertions, deletions, substitutions and exchanges of neighbours (optimal string alignment).
std::size_t edit_distance(std::string_view a, std::string_view b);
// The name that was probably meant: the least distance, at most a third of the length (rounded up, at least 2), or the
// only name that the text begins or ends. The first of equals wins.
std::optional<std::string> nearest_known(std::string_view name, const std::vector<std::string>& known);
// "; did you mean 'x'?", or nothing.
std::string did_you_mean(std::string_view name, const std::vector<std::string>& known);

}  // namespace maxplus
