// Scanning and exact comparison. Notation: i a position in the text, all scanners return the end of what they took.
#include "verify/decimal.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

#include <fmt/format.h>

#include "verify/characters.hpp"

namespace maxplus {

namespace {

constexpr std::size_t kMaxDigits = 2000;  // of factors in an exact product
constexpr int kMaxExponent = 9999;
constexpr std::string_view kMinusSign = "\xe2\x88\x92";  // U+2212

bool is_word(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0xC3;
}

std::size_t digits_end(std::string_view text, std::size_t i) {
  while (i < text.size() && is_digit(text[i])) ++i;
  return i;
}

// 1,234,567: groups of three behind the first one to three digits.
std::size_t grouped_end(std::string_view text, std::size_t begin) {
  std::size_t end = digits_end(text, begin);
  if (end - begin > 3) return end;
  while (end + 3 < text.size() && text[end] == ',' && digits_end(text, end + 1) == end + 4) end += 4;
  return end;
}

Decimal normalised(bool negative, std::string_view whole, std::string_view fraction, int exponent) {
  Decimal d;
  for (const char c : whole) {
    if (c != ',') d.digits += c;
  }
  d.exponent = exponent + static_cast<int>(d.digits.size());
  d.digits += fraction;
  const std::size_t first = std::min(d.digits.find_first_not_of('0'), d.digits.size());
  d.digits.erase(0, first);
  d.exponent -= static_cast<int>(first);
  while (!d.digits.empty() && d.digits.back() == '0') d.digits.pop_back();
  if (d.digits.empty()) return {};
  d.negative = negative;
  return d;
}

// An unsigned decimal at i; nothing taken: end == i.
std::size_t scan_decimal(std::string_view text, std::size_t i, bool negative, Decimal& d) {
  const std::size_t whole_end = grouped_end(text, i);
  std::size_t end = whole_end, fraction_begin = whole_end;
  if (end + 1 < text.size() && text[end] == '.' && is_digit(text[end + 1])) {
    fraction_begin = end + 1;
    end = digits_end(text, fraction_begin);
  }
  if (end == i) return i;
  const std::string_view fraction = text.substr(fraction_begin, end - fraction_begin);
  int exponent = 0;
  if (end + 1 < text.size() && (text[end] == 'e' || text[end] == 'E')) {
    const std::size_t sign = text[end + 1] == '+' || text[end + 1] == '-' ? 1 : 0;
    const std::size_t from = end + 1 + sign, to = digits_end(text, from);
    if (to > from && to - from <= 4 && (to == text.size() || !is_word(text[to]))) {
      std::from_chars(text.data() + from, text.data() + to, exponent);
      if (sign == 1 && text[end + 1] == '-') exponent = -exponent;
      end = to;
    }
  }
  d = normalised(negative, text.substr(i, whole_end - i), fraction, exponent);
  return end;
}

// A number that begins at i (its sign included); nothing taken: end == i.
std::size_t scan_number(std::string_view text, std::size_t i, TextNumber& number) {
  std::size_t begin = i;
  bool negative = false;
  if (text[begin] == '-' || text[begin] == '+') {
    negative = text[begin] == '-';
    ++begin;
  } else if (text.substr(begin).starts_with(kMinusSign)) {
    negative = true;
    begin += kMinusSign.size();
  }
  std::size_t end = scan_decimal(text, begin, negative, number.numerator);
  if (end == begin) return i;
  if (end + 1 < text.size() && text[end] == '/' && is_digit(text[end + 1])) {
    Decimal below;
    const std::size_t below_end = scan_decimal(text, end + 1, false, below);
    if (below.digits.empty()) return i;
    number.denominator = below;
    end = below_end;
  }
  if (end < text.size() && is_word(text[end])) return i;  // 3rd, 2x
  number.text = text.substr(i, end - i);
  return end;
}

bool may_begin(std::string_view text, std::size_t i) {
  if (i == 0) return true;
  const char before = text[i - 1];
  if (is_word(before)) return false;
  if (before == '.' || before == ',' || before == '/') return i < 2 || !is_digit(text[i - 2]);
  return true;
}

// Product of two digit strings as an integer, lowest digit first.
std::vector<int> multiplied(const std::string& a, const std::string& b) {
  std::vector<int> product(a.size() + b.size(), 0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    int carry = 0;
    for (std::size_t j = 0; j < b.size() || carry > 0; ++j) {
      int& place = product[i + j];
      place += carry + (j < b.size() ? (a[a.size() - 1 - i] - '0') * (b[b.size() - 1 - j] - '0') : 0);
      carry = place / 10;
      place %= 10;
    }
  }
  return product;
}

Decimal product(const Decimal& a, const Decimal& b) {
  if (a.digits.empty() || b.digits.empty()) return {};
  std::string digits;
  for (const int digit : multiplied(a.digits, b.digits)) digits += static_cast<char>('0' + digit);
  std::reverse(digits.begin(), digits.end());
  const int exponent = a.exponent + b.exponent - static_cast<int>(digits.size());
  return normalised(a.negative != b.negative, digits, "", exponent);
}

bool same(const Decimal& a, const Decimal& b) {
  return a.negative == b.negative && a.digits == b.digits && (a.digits.empty() || a.exponent == b.exponent);
}

double approximate_decimal(const Decimal& d) {
  if (d.digits.empty()) return 0;
  if (d.exponent > kMaxExponent) return std::numeric_limits<double>::infinity();
  const std::string text = fmt::format("0.{}e{}", d.digits.substr(0, 40), d.exponent);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) value = d.exponent > 0 ? std::numeric_limits<double>::infinity() : 0;
  return d.negative ? -value : value;
}

}  // namespace

std::vector<TextNumber> find_numbers(std::string_view text) {
  std::vector<TextNumber> numbers;
  for (std::size_t i = 0; i < text.size();) {
    TextNumber number;
    std::size_t end = i;
    const char c = text[i];
    const bool candidate = is_digit(c) || c == '.' || c == '-' || c == '+' || text.substr(i).starts_with(kMinusSign);
    if (candidate && may_begin(text, i)) end = scan_number(text, i, number);
    if (end > i) {
      numbers.push_back(number);
      i = end;
    } else {
      i = is_digit(c) ? digits_end(text, i) : i + 1;
    }
  }
  return numbers;
}

bool equal_exactly(const TextNumber& a, const TextNumber& b) {
  if (!a.denominator && !b.denominator) return same(a.numerator, b.numerator);
  for (const TextNumber* n : {&a, &b}) {
    if (n->numerator.digits.size() > kMaxDigits || (n->denominator && n->denominator->digits.size() > kMaxDigits))
      return false;
  }
  const Decimal one = {false, "1", 1};
  return same(product(a.numerator, b.denominator.value_or(one)), product(b.numerator, a.denominator.value_or(one)));
}

double approximate(const TextNumber& number) {
  const double above = approximate_decimal(number.numerator);
  return number.denominator ? above / approximate_decimal(*number.denominator) : above;
}

std::optional<std::string> plain_integer(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  if (text.empty() || !std::all_of(text.begin(), text.end(), is_digit)) return std::nullopt;
  while (text.size() > 1 && text[0] == '0') text.remove_prefix(1);
  return negative && text != "0" ? "-" + std::string(text) : std::string(text);
}

}  // namespace maxplus
