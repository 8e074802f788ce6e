#pragma once
// Numbers as they stand in text, compared exactly: decimals of any length and fractions of two of them.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace maxplus {

struct Decimal {
  bool negative = false;
  std::string digits;  // no zeros at either end; empty: the value 0
  int exponent = 0;    // value = 0.digits * 10^exponent
};

struct TextNumber {
  Decimal numerator;
  std::optional<Decimal> denominator;  // never 0
  std::string_view text;               // where it stands
};

// Every number of a text, in order: sign, digits with or without thousands commas, decimals, exponent, or a fraction
// a/b. Digits inside a word are none; nor is a fraction by 0.
std::vector<TextNumber> find_numbers(std::string_view text);

bool equal_exactly(const TextNumber& a, const TextNumber& b);
double approximate(const TextNumber& number);

// Digits with an optional '-' before them, of any length, and nothing else: without zeros in front, so that equal
// numbers are equal texts.
std::optional<std::string> plain_integer(std::string_view text);

}  // namespace maxplus
