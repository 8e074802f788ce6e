#pragma once
// Regular expressions that cut a text into words before byte-pair encoding, in the subset that published tokenizers
// use, matched as a backtracking engine does: first alternative first, longest repetition first.
//
// Read: alternatives, groups ( ), (?: ), (?i: ), each with nothing or "?" behind it; [sets] with ranges, ^, \p{..},
// \P{..}, \s, \S, \d, \r, \n, \t, \uXXXX, \x{..}; single characters, sets and escapes with ? * + {n} {n,} {n,m},
// possessive or not; (?= ) and (?! ). Anything else is refused by name. Properties are those of Unicode 16.0, so that
// the words are those of the tokenizers library, which a system's regular expressions (an older Unicode) would miss.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/unicode.hpp"

namespace maxplus {

// A set of code points.
struct CodeSet {
  bool negated = false, spaces = false, not_spaces = false;
  std::uint32_t categories = 0;                       // a mask
  std::vector<std::pair<char32_t, char32_t>> ranges;  // both ends included
  std::uint64_t ascii[2] = {0, 0};                    // filled by finish()

  void finish();
  bool contains(char32_t code) const {
    if (code < 128) return ((ascii[code >> 6] >> (code & 63)) & 1) != 0;
    return contains_slowly(code);
  }

 private:
  bool contains_slowly(char32_t code) const;
};

class SplitPattern {
 public:
  // Throws Error(ExitCode::data) that names what is not understood, and `where`.
  SplitPattern(std::string_view expression, const std::string& where);

  // End of the match that begins exactly at `begin`; nothing if there is none. A match may be empty.
  std::optional<std::size_t> match_at(std::string_view text, std::size_t begin) const;

  // ASCII characters as bits.
  struct AsciiSet {
    std::uint64_t word[2] = {0, 0};
    bool contains(unsigned char c) const { return ((word[c >> 6] >> (c & 63)) & 1) != 0; }
  };
  struct Node {
    enum class Kind { set, branch, look, accept } kind = Kind::accept;
    std::int32_t next = 0;               // set, look: what follows
    std::int32_t set = 0;                // index into sets
    std::size_t least = 1, most = 1;     // repetitions of the set
    bool possessive = false;             // never gives back
    bool negative = false;               // of a look-ahead
    AsciiSet starts;                     // what a match from here can begin with; all, if it can be empty
    std::vector<std::int32_t> branches;  // branch: in order; look: the one inside
  };

 private:
  static constexpr std::size_t kNoMatch = SIZE_MAX;
  std::size_t run(std::int32_t node, std::string_view text, std::size_t at) const;
  std::size_t run_set(const Node& node, std::string_view text, std::size_t at) const;

  void find_starts();

  std::vector<Node> nodes_;
  std::vector<CodeSet> sets_;
  std::int32_t start_ = 0;
};

// What happens with the text between matches: a word of its own, or dropped.
enum class SplitGaps { keep, drop };

// Appends to `words` the parts of text[begin, end) as (begin, end); matches and gaps do not look outside of it.
void split_words_by(const SplitPattern& pattern, SplitGaps gaps, std::string_view text, std::size_t begin,
                    std::size_t end, std::vector<std::pair<std::size_t, std::size_t>>& words);

}  // namespace maxplus
