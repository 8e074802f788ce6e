#pragma once
// Comparing what a program gave with what a test expects: plain data on our side, so that no object of the program's
// has a say.

#include <string_view>

#include "rl/sample.hpp"

namespace maxplus {

// Word by word: blanks and line breaks only separate. Where the expected word is a decimal fraction or has an exponent,
// numbers may differ by `tolerance`, relative to the larger of 1 and the expected one.
bool same_output(std::string_view expected, std::string_view output, double tolerance);

// Tuples equal lists; sets have no order; 1 equals 1.0, but neither True; fractions within `tolerance` as above.
bool same_value(const Json& expected, const Json& value, double tolerance);

}  // namespace maxplus
