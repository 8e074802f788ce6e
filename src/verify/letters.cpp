// Classification by ranges of code points, and leaving out what is no prose.
#include "verify/letters.hpp"

#include <algorithm>

#include "text/utf8.hpp"
#include "verify/characters.hpp"

namespace maxplus {

namespace {

struct Range {
  char32_t first, last;
  Script script;
};

// Sorted. Punctuation, digits and symbols inside a block are cut out where they are many.
constexpr Range kRanges[] = {
    {0x41, 0x5A, Script::latin},        {0x61, 0x7A, Script::latin},        {0xAA, 0xAA, Script::latin},
    {0xBA, 0xBA, Script::latin},        {0xC0, 0xD6, Script::latin},        {0xD8, 0xF6, Script::latin},
    {0xF8, 0x2AF, Script::latin},       {0x370, 0x373, Script::greek},      {0x376, 0x377, Script::greek},
    {0x37B, 0x37D, Script::greek},      {0x37F, 0x37F, Script::greek},      {0x386, 0x386, Script::greek},
    {0x388, 0x3FF, Script::greek},      {0x400, 0x481, Script::cyrillic},   {0x48A, 0x52F, Script::cyrillic},
    {0x531, 0x556, Script::armenian},   {0x560, 0x588, Script::armenian},   {0x5D0, 0x5EA, Script::hebrew},
    {0x5EF, 0x5F2, Script::hebrew},     {0x620, 0x64A, Script::arabic},     {0x66E, 0x6D3, Script::arabic},
    {0x6D5, 0x6D5, Script::arabic},     {0x6EE, 0x6EF, Script::arabic},     {0x6FA, 0x6FF, Script::arabic},
    {0x700, 0x74F, Script::other},      {0x750, 0x77F, Script::arabic},     {0x780, 0x8FF, Script::other},
    {0x900, 0x963, Script::devanagari}, {0x971, 0x97F, Script::devanagari}, {0x980, 0x9E3, Script::bengali},
    {0xA00, 0xB7F, Script::other},      {0xB80, 0xBE5, Script::tamil},      {0xC00, 0xC63, Script::telugu},
    {0xC80, 0xDFF, Script::other},      {0xE01, 0xE3A, Script::thai},       {0xE40, 0xE4E, Script::thai},
    {0xE80, 0x109F, Script::other},     {0x10A0, 0x10FF, Script::georgian}, {0x1100, 0x11FF, Script::hangul},
    {0x1200, 0x1C8F, Script::other},    {0x1C90, 0x1CBF, Script::georgian}, {0x1D00, 0x1D7F, Script::latin},
    {0x1E00, 0x1EFF, Script::latin},    {0x1F00, 0x1FFF, Script::greek},    {0x2C60, 0x2C7F, Script::latin},
    {0x2D00, 0x2D2F, Script::georgian}, {0x3005, 0x3007, Script::han},      {0x3041, 0x3096, Script::kana},
    {0x309D, 0x309F, Script::kana},     {0x30A1, 0x30FA, Script::kana},     {0x30FC, 0x30FF, Script::kana},
    {0x3105, 0x312F, Script::other},    {0x3131, 0x318E, Script::hangul},   {0x31F0, 0x31FF, Script::kana},
    {0x3400, 0x4DBF, Script::han},      {0x4E00, 0x9FFF, Script::han},      {0xA000, 0xA63F, Script::other},
    {0xA640, 0xA66E, Script::cyrillic}, {0xA722, 0xA7FF, Script::latin},    {0xA960, 0xA97C, Script::hangul},
    {0xAC00, 0xD7A3, Script::hangul},   {0xF900, 0xFAFF, Script::han},      {0xFB00, 0xFB06, Script::latin},
    {0xFB1D, 0xFB4F, Script::hebrew},   {0xFB50, 0xFDFB, Script::arabic},   {0xFE70, 0xFEFC, Script::arabic},
    {0xFF21, 0xFF3A, Script::latin},    {0xFF41, 0xFF5A, Script::latin},    {0xFF66, 0xFF9D, Script::kana},
    {0xFFA0, 0xFFDC, Script::hangul},   {0x10000, 0x100FF, Script::other},  {0x10280, 0x10FFF, Script::other},
    {0x20000, 0x323AF, Script::han},
};

char32_t code_point(std::string_view bytes) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  switch (bytes.size()) {
    case 1: return byte(0);
    case 2: return (byte(0) & 0x1FU) << 6U | (byte(1) & 0x3FU);
    case 3: return (byte(0) & 0xFU) << 12U | (byte(1) & 0x3FU) << 6U | (byte(2) & 0x3FU);
    default: return (byte(0) & 0x7U) << 18U | (byte(1) & 0x3FU) << 12U | (byte(2) & 0x3FU) << 6U | (byte(3) & 0x3FU);
  }
}

// The end of a group { … } that begins at i.
std::size_t group_end(std::string_view text, std::size_t i) {
  int depth = 0;
  for (std::size_t k = i; k < text.size(); ++k) {
    if (text[k] == '{') ++depth;
    if (text[k] == '}' && --depth == 0) return k + 1;
  }
  return text.size();
}

struct Pair {
  std::string_view open, close;
  bool closes = true;  // false once a search to the end was in vain: each pair is searched for in vain only once
};

// What begins at i and is no prose ends there; i: prose goes on.
std::size_t skipped(std::string_view text, std::size_t i, std::array<Pair, 6>& pairs) {
  const std::string_view rest = text.substr(i);
  for (auto& [open, close, closes] : pairs) {
    if (!rest.starts_with(open)) continue;
    const std::size_t end = closes ? rest.find(close, open.size()) : std::string_view::npos;
    if (end != std::string_view::npos) return i + end + close.size();
    closes = false;
    if (open == "```") return text.size();
    return i + open.size();
  }
  if (rest.starts_with("\\") && rest.size() > 1 && is_letter(rest[1])) {
    std::size_t end = i + 1;
    while (end < text.size() && is_letter(text[end])) ++end;
    while (end < text.size() && text[end] == '{') end = group_end(text, end);
    return end;
  }
  if (rest.starts_with("<")) {
    const std::size_t end = rest.substr(0, 100).find('>');
    if (end != std::string_view::npos && rest.size() > 1 && (is_letter(rest[1]) || rest[1] == '/')) return i + end + 1;
  }
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!rest.starts_with(scheme)) continue;
    return std::min(text.size(), text.find_first_of(" \t\r\n", i));
  }
  return i;
}

}  // namespace

LetterCounts count_letters(std::string_view text) {
  LetterCounts counts{};
  const std::string valid = lossy_utf8(text);
  for (const std::string_view bytes : code_points(valid)) {
    const char32_t point = code_point(bytes);
    const auto* const range = std::upper_bound(std::begin(kRanges), std::end(kRanges), point,
                                               [](char32_t p, const Range& r) { return p < r.first; });
    if (range == std::begin(kRanges) || point > range[-1].last) continue;
    ++counts[static_cast<std::size_t>(range[-1].script)];
  }
  return counts;
}

std::string prose_of(std::string_view text) {
  std::array<Pair, 6> pairs = {{{"```", "```"}, {"`", "`"}, {"$$", "$$"}, {"$", "$"}, {"\\(", "\\)"}, {"\\[", "\\]"}}};
  std::string prose;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t end = skipped(text, i, pairs);
    prose += end > i ? ' ' : text[i];
    i = std::max(end, i + 1);
  }
  return prose;
}

}  // namespace maxplus
