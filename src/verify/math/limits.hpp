#pragma once
// What the reading and comparing of one answer may cost. Every limit is published in the grammar of `math`.

#include <cstddef>
#include <cstdint>

namespace maxplus::math {

inline constexpr std::size_t kMaxAnswerBytes = 10'000;
inline constexpr std::size_t kMaxDigits = 5'000;  // of a number, written or computed
inline constexpr std::size_t kMaxBits = 16'610;   // the same in binary
inline constexpr int kMaxDepth = 64;              // of brackets within brackets
inline constexpr std::size_t kMaxNodes = 4'000;   // numbers, symbols and operations
inline constexpr std::size_t kMaxItems = 200;     // of a list, a set, a matrix
inline constexpr std::size_t kMaxTerms = 400;     // of an expanded sum
inline constexpr long kMaxExpanded = 64;          // power of a sum that is expanded
inline constexpr unsigned long kMaxFactorial = 1'000;
inline constexpr std::size_t kMaxNameBytes = 20'000;  // of a function with its argument
inline constexpr int kMaxPostfix = 8;                 // !, %, ' behind one factor

// Thrown where a text is no mathematics of the grammar or is beyond a limit; caught in math.cpp and nowhere else.
struct Unreadable {};

inline constexpr std::size_t kMaxSteps = 1'500'000;  // of arithmetic; one takes about a tenth of a microsecond

// Steps left.
class Work {
 public:
  explicit Work(std::size_t steps) : left_(steps) {}
  void spend(std::size_t steps) {
    if (steps > left_) throw Unreadable();
    left_ -= steps;
  }

 private:
  std::size_t left_;
};

}  // namespace maxplus::math
