#pragma once
// Broken files made from sound ones, by seed: what a disk, a cut transfer or a bad writer may leave.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <string>

namespace maxplus {

// Draws by counters (Steele et al., 2014: a Weyl sequence, mixed).
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 1) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  std::size_t below(std::size_t bound) { return bound == 0 ? 0 : static_cast<std::size_t>(next() % bound); }

 private:
  std::uint64_t state_;
};

// One to three changes, most of them within the first `header` bytes, where a format keeps its counts and names.
inline std::string mutated(std::string bytes, std::size_t header, std::uint64_t seed) {
  static constexpr std::uint64_t kNumbers[] = {0,          1,          0x7f,       0x80,       0xff,       0xffff,
                                               0x7fffffff, 0x80000000, 0xffffffff, 1ull << 32, 1ull << 61, 1ull << 63,
                                               ~0ull,      ~7ull,      33,         1ull << 20};
  Draws draws(seed);
  const std::size_t changes = 1 + draws.below(3);
  for (std::size_t c = 0; c < changes; ++c) {
    if (bytes.empty()) break;
    const std::size_t range = draws.below(8) == 0 ? bytes.size() : std::min(header, bytes.size());
    const std::size_t at = draws.below(range);
    switch (draws.below(8)) {
      case 0: bytes[at] = static_cast<char>(draws.next()); break;
      case 1: bytes[at] = static_cast<char>(static_cast<unsigned char>(bytes[at]) ^ (1u << draws.below(8))); break;
      case 2: {  // a number in the place of eight bytes, or of four
        const std::uint64_t value = kNumbers[draws.below(std::size(kNumbers))];
        std::memcpy(bytes.data() + at, &value, std::min<std::size_t>(draws.below(2) == 0 ? 8 : 4, bytes.size() - at));
        break;
      }
      case 3: bytes.resize(at); break;
      case 4: bytes.erase(at, 1 + draws.below(40)); break;
      case 5: bytes.insert(at, bytes.substr(draws.below(range), 1 + draws.below(40))); break;
      case 6: {  // a part copied over another
        const std::string part = bytes.substr(draws.below(range), 1 + draws.below(40));
        bytes.replace(at, std::min(part.size(), bytes.size() - at), part);
        break;
      }
      default: {  // a digit, a bracket, a quote: what JSON is made of
        static constexpr char kMarks[] = "0123456789-.eE[]{}\",:\\ ntf";
        bytes[at] = kMarks[draws.below(sizeof kMarks - 1)];
      }
    }
  }
  return bytes;
}

// JSON that is still JSON, most of the time: a number becomes another one, a value another kind of value, a string
// grows, shrinks or takes the place of another.
inline std::string mutated_json(std::string text, std::uint64_t seed) {
  static constexpr const char* kValues[] = {
      "0",    "-1",   "1",  "3",  "255",   "65536",       "16777216", "2147483648", "9223372036854775807",
      "1e99", "0.5",  "-0", "[]", "{}",    "null",        "true",     "false",      "\"\"",
      "[1]",  "[[]]", "7",  "64", "\"x\"", "\"\\ud800\"", "1024",     "{\"a\":1}"};
  Draws draws(seed);
  const std::size_t changes = 1 + draws.below(3);
  for (std::size_t c = 0; c < changes && !text.empty(); ++c) {
    const std::size_t start = draws.below(text.size());
    const std::size_t colon = text.find(':', start);
    if (colon == std::string::npos || draws.below(4) == 0) {  // within a string or a number
      text[start] = static_cast<char>(
          text[start] == '"' || text[start] == '\\' ? text[start] : 'a' + static_cast<char>(draws.below(26)));
      continue;
    }
    std::size_t end = text.find_first_of(",}]\n", colon);
    if (end == std::string::npos) end = text.size();
    text.replace(colon + 1, end - colon - 1, kValues[draws.below(std::size(kValues))]);
  }
  return text;
}

}  // namespace maxplus
