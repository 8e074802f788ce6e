#pragma once
// Properties of code points (Unicode 16.0) and the walk over UTF-8 that knows its text to be valid.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace maxplus {

// General categories in the order of the Unicode standard; bit i of a mask of categories stands for category i.
enum class Category : std::uint8_t {
  lu,
  ll,
  lt,
  lm,
  lo,
  mn,
  mc,
  me,
  nd,
  nl,
  no,
  pc,
  pd,
  ps,
  pe,
  pi,
  pf,
  po,
  sm,
  sc,
  sk,
  so,
  zs,
  zl,
  zp,
  cc,
  cf,
  cs,
  co,
  cn
};

constexpr std::uint32_t category_bit(Category category) { return std::uint32_t{1} << static_cast<unsigned>(category); }

// The mask of "L", "N", "Lu", ...; 0 for a name that is none.
std::uint32_t category_mask(std::string_view name);

// Category and White_Space of one code point.
struct CodeClass {
  std::uint8_t value;
  Category category() const { return static_cast<Category>(value & 31); }
  std::uint32_t bit() const { return std::uint32_t{1} << (value & 31); }
  bool is_space() const { return (value & 32) != 0; }
};

CodeClass class_of(char32_t code);  // precondition: code < 0x110000

struct CodePoint {
  char32_t code;
  std::size_t length;  // bytes
};

// Preconditions: valid UTF-8, i < text.size(), and i is where a code point begins.
inline CodePoint code_point_at(std::string_view text, std::size_t i) {
  const auto byte = [&](std::size_t k) { return static_cast<char32_t>(static_cast<unsigned char>(text[i + k])); };
  const char32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  if (lead < 0xE0) return {((lead & 0x1F) << 6) | (byte(1) & 0x3F), 2};
  if (lead < 0xF0) return {((lead & 0x0F) << 12) | ((byte(1) & 0x3F) << 6) | (byte(2) & 0x3F), 3};
  return {((lead & 0x07) << 18) | ((byte(1) & 0x3F) << 12) | ((byte(2) & 0x3F) << 6) | (byte(3) & 0x3F), 4};
}

// Where the code point begins that ends before byte i; precondition: i > 0.
inline std::size_t code_point_before(std::string_view text, std::size_t i) {
  do --i;
  while (i > 0 && (static_cast<unsigned char>(text[i]) & 0xC0) == 0x80);
  return i;
}

void append_utf8(char32_t code, std::string& text);

}  // namespace maxplus
