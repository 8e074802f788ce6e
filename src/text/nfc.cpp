#include "text/nfc.hpp"

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "text/unicode.hpp"
#include "text/unicode_tables.hpp"

namespace maxplus {

namespace {

// Hangul syllables are composed by arithmetic (The Unicode Standard, 3.12).
constexpr char32_t kSyllables = 0xAC00, kLeads = 0x1100, kVowels = 0x1161, kTails = 0x11A7;
constexpr char32_t kLeadCount = 19, kVowelCount = 21, kTailCount = 28;
constexpr char32_t kSyllableCount = kLeadCount * kVowelCount * kTailCount;

constexpr char32_t kFirstInteresting = 0x300;  // below it every code point is its own normal form and a starter

struct NormalForms {
  std::unordered_map<char32_t, unicode::Decomposition> parts;
  std::unordered_map<std::uint64_t, char32_t> whole;  // (first << 32 | second) -> composed
  std::vector<std::uint32_t> first_of_run, class_of_run;

  NormalForms() {
    const std::uint32_t* never = unicode::kNeverComposed;
    const std::uint32_t* never_end = never + unicode::kNeverComposedCount;
    for (std::size_t i = 0; i < unicode::kDecompositionsCount; ++i) {
      const unicode::Decomposition& d = unicode::kDecompositions[i];
      parts.emplace(d.code, d);
      if (d.second != 0 && !std::binary_search(never, never_end, d.code))
        whole.emplace((std::uint64_t{d.first} << 32) | d.second, d.code);
    }
    for (std::size_t i = 0; i < unicode::kCombiningRunsCount; ++i) {
      first_of_run.push_back(unicode::kCombiningRuns[i] >> 8);
      class_of_run.push_back(unicode::kCombiningRuns[i] & 255);
    }
  }
  std::uint32_t combining_class(char32_t code) const {
    const auto next = std::upper_bound(first_of_run.begin(), first_of_run.end(), code);
    return class_of_run[static_cast<std::size_t>(next - first_of_run.begin()) - 1];
  }
};

const NormalForms& forms() {
  static const NormalForms tables;
  return tables;
}

struct Mark {
  char32_t code;
  std::uint32_t combining;
};

void decompose(char32_t code, std::vector<Mark>& out) {
  if (code >= kSyllables && code < kSyllables + kSyllableCount) {
    const char32_t s = code - kSyllables;
    out.push_back({kLeads + s / (kVowelCount * kTailCount), 0});
    out.push_back({kVowels + s % (kVowelCount * kTailCount) / kTailCount, 0});
    if (s % kTailCount != 0) out.push_back({kTails + s % kTailCount, 0});
    return;
  }
  const auto found = forms().parts.find(code);
  if (found == forms().parts.end()) {
    out.push_back({code, forms().combining_class(code)});
    return;
  }
  decompose(found->second.first, out);
  if (found->second.second != 0) decompose(found->second.second, out);
}

// 0: the two do not compose.
char32_t composed(char32_t first, char32_t second) {
  if (first >= kLeads && first < kLeads + kLeadCount && second >= kVowels && second < kVowels + kVowelCount)
    return kSyllables + ((first - kLeads) * kVowelCount + second - kVowels) * kTailCount;
  if (first >= kSyllables && first < kSyllables + kSyllableCount && (first - kSyllables) % kTailCount == 0 &&
      second > kTails && second < kTails + kTailCount)
    return first + second - kTails;
  const auto found = forms().whole.find((std::uint64_t{first} << 32) | second);
  return found == forms().whole.end() ? 0 : found->second;
}

void order_marks(std::vector<Mark>& marks) {
  for (std::size_t begin = 0; begin < marks.size();) {
    if (marks[begin].combining == 0) {
      ++begin;
      continue;
    }
    std::size_t end = begin;
    while (end < marks.size() && marks[end].combining != 0) ++end;
    std::stable_sort(marks.begin() + static_cast<std::ptrdiff_t>(begin),
                     marks.begin() + static_cast<std::ptrdiff_t>(end),
                     [](const Mark& a, const Mark& b) { return a.combining < b.combining; });
    begin = end;
  }
}

void compose(std::vector<Mark>& marks) {
  constexpr std::size_t kNothing = SIZE_MAX;
  std::size_t starter = kNothing, kept = 0;
  std::uint32_t last_class = 0;  // of what was kept behind the starter
  for (std::size_t i = 0; i < marks.size(); ++i) {
    const Mark mark = marks[i];
    const bool adjacent = starter != kNothing && kept == starter + 1;
    if (starter != kNothing && (adjacent || last_class < mark.combining)) {
      if (const char32_t whole = composed(marks[starter].code, mark.code)) {
        marks[starter].code = whole;
        continue;
      }
    }
    if (mark.combining == 0) starter = kept;
    last_class = mark.combining;
    marks[kept++] = mark;
  }
  marks.resize(kept);
}

}  // namespace

std::string nfc(std::string_view text) {
  bool plain = true;
  for (std::size_t i = 0; plain && i < text.size(); ++i) plain = static_cast<unsigned char>(text[i]) < 0xCC;
  if (plain) return std::string(text);  // 0xCC leads U+0300

  std::string out;
  out.reserve(text.size());
  std::vector<Mark> marks;
  const auto next_is_interesting = [&text](std::size_t i) {
    return i < text.size() && code_point_at(text, i).code >= kFirstInteresting;
  };
  for (std::size_t i = 0; i < text.size();) {
    CodePoint point = code_point_at(text, i);
    if (point.code < kFirstInteresting && !next_is_interesting(i + point.length)) {
      out.append(text, i, point.length);
      i += point.length;
      continue;
    }
    // A stretch that ends before a code point below U+0300 is on its own: nothing composes across that place.
    marks.clear();
    do {
      point = code_point_at(text, i);
      decompose(point.code, marks);
      i += point.length;
    } while (next_is_interesting(i));
    order_marks(marks);
    compose(marks);
    for (const Mark& mark : marks) append_utf8(mark.code, out);
  }
  return out;
}

}  // namespace maxplus
