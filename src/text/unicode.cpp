#include "text/unicode.hpp"

#include <array>
#include <vector>

#include "text/unicode_tables.hpp"

namespace maxplus {

namespace {

constexpr std::array<std::string_view, 30> kCategoryNames = {
    "Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No", "Pc", "Pd", "Ps", "Pe",
    "Pi", "Pf", "Po", "Sm", "Sc", "Sk", "So", "Zs", "Zl", "Zp", "Cc", "Cf", "Cs", "Co", "Cn"};
constexpr std::uint32_t kCodes = 0x110000;

// One byte a code point, 1.1 MB: a look-up is one load.
std::vector<std::uint8_t> expanded_runs() {
  std::vector<std::uint8_t> table(kCodes);
  for (std::size_t r = 0; r < unicode::kCategoryRunsCount; ++r) {
    const std::uint32_t first = unicode::kCategoryRuns[r] >> 6;
    const std::uint32_t next = r + 1 < unicode::kCategoryRunsCount ? unicode::kCategoryRuns[r + 1] >> 6 : kCodes;
    for (std::uint32_t code = first; code < next; ++code)
      table[code] = static_cast<std::uint8_t>(unicode::kCategoryRuns[r] & 63);
  }
  return table;
}

}  // namespace

std::uint32_t category_mask(std::string_view name) {
  std::uint32_t mask = 0;
  for (std::size_t i = 0; i < kCategoryNames.size(); ++i) {
    if (kCategoryNames[i] == name || (name.size() == 1 && kCategoryNames[i][0] == name[0]))
      mask |= std::uint32_t{1} << i;
  }
  return mask;
}

CodeClass class_of(char32_t code) {
  static const std::vector<std::uint8_t> table = expanded_runs();
  return {table[code]};
}

void append_utf8(char32_t code, std::string& text) {
  const auto byte = [&text](char32_t value) { text += static_cast<char>(static_cast<unsigned char>(value)); };
  if (code < 0x80) {
    byte(code);
  } else if (code < 0x800) {
    byte(0xC0 | (code >> 6));
    byte(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    byte(0xE0 | (code >> 12));
    byte(0x80 | ((code >> 6) & 0x3F));
    byte(0x80 | (code & 0x3F));
  } else {
    byte(0xF0 | (code >> 18));
    byte(0x80 | ((code >> 12) & 0x3F));
    byte(0x80 | ((code >> 6) & 0x3F));
    byte(0x80 | (code & 0x3F));
  }
}

}  // namespace maxplus
