#pragma once
// Letters by script, and the part of a text that is prose.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace maxplus {

enum class Script : std::uint8_t {
  latin,
  greek,
  cyrillic,
  armenian,
  hebrew,
  arabic,
  devanagari,
  bengali,
  tamil,
  telugu,
  thai,
  georgian,
  hangul,
  kana,
  han,
  other
};
inline constexpr int kScripts = 16;
using LetterCounts = std::array<std::int64_t, kScripts>;

// Letters (and marks that stand for vowels) of each script by blocks of Unicode 15; bytes that are not valid UTF-8 are
// none. Letters of blocks without a name here are `other`.
LetterCounts count_letters(std::string_view text);

// Without code, formulas, LaTeX commands, tags and addresses; a blank in place of each.
std::string prose_of(std::string_view text);

}  // namespace maxplus
