#pragma once
// An answer as tokens: LaTeX, plain text and the usual signs of Unicode come out the same.

#include <string>
#include <string_view>
#include <vector>

namespace maxplus::math {

struct Token {
  enum class Kind {
    number,   // text: 1234.5e-6 without separators; repeating: the digits under a bar
    letter,   // text: a symbol
    words,    // text: of \text{…}, or bare words of four letters and more
    command,  // text: the function or construct: sin, frac, sqrt, pi, begin:pmatrix, …
    sign,     // text: an operator or bracket: + - * / ^ _ ( ) [ ] { } \{ \} | , ; : = < > <= >= != ! % & \\ …
    end
  };
  Kind kind = Kind::end;
  std::string text;
  std::string repeating;
  bool blank_before = false;
  bool bare = false;  // a command without backslash: sqrt(3)

  bool is(Kind wanted, std::string_view what) const { return kind == wanted && text == what; }
  bool is_sign(std::string_view what) const { return is(Kind::sign, what); }
};

using TokenKind = Token::Kind;

// Ends with a token of Kind::end. Throws Unreadable.
std::vector<Token> tokens_of(std::string_view text);

}  // namespace maxplus::math
