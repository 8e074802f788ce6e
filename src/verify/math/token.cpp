// From characters to tokens.
#include "verify/math/token.hpp"

#include <algorithm>

#include "text/utf8.hpp"
#include "verify/characters.hpp"
#include "verify/math/limits.hpp"
#include "verify/math/spelling.hpp"

namespace maxplus::math {

namespace {

bool is_space(char c) { return is_blank(c) || c == '~'; }

// Commands whose argument is text, and those whose argument is mathematics in another letter.
bool is_text_command(std::string_view name) {
  return name == "text" || name == "textbf" || name == "textit" || name == "textrm" || name == "textnormal" ||
         name == "mbox" || name == "emph";
}
bool is_font_command(std::string_view name) {
  return name == "mathrm" || name == "mathbf" || name == "mathit" || name == "mathsf" || name == "boldsymbol" ||
         name == "bm" || name == "operatorname" || name == "mathnormal";
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  std::vector<Token> run() {
    while (i_ < text_.size()) {
      read_one();
      if (tokens_.size() > kMaxNodes) throw Unreadable();
    }
    push(TokenKind::end, "");
    return std::move(tokens_);
  }

 private:
  std::string_view rest() const { return text_.substr(i_); }
  char at(std::size_t k) const { return i_ + k < text_.size() ? text_[i_ + k] : '\0'; }

  void push(TokenKind kind, std::string_view text) {
    if (kind == TokenKind::sign) {
      if (text == "(" || text == "[" || text == "\\{" || text == "<(") ++nesting_;
      if (text == ")" || text == "]" || text == "\\}" || text == ")>") nesting_ = std::max(0, nesting_ - 1);
    }
    tokens_.push_back({kind, std::string(text), "", blank_, false});
    blank_ = false;
  }

  void read_one() {
    const char c = at(0);
    if (is_space(c) || c == '$') {
      blank_ = true;
      ++i_;
    } else if (is_digit(c) || (c == '.' && is_digit(at(1)))) {
      read_number();
    } else if (c == '\\') {
      read_command();
    } else if (is_letter(c)) {
      read_letters();
    } else {
      read_sign();
    }
  }

  void read_sign() {
    for (const std::string_view two : {"<=", ">=", "!=", "**"}) {
      if (!rest().starts_with(two)) continue;
      push(TokenKind::sign, two == "**" ? "^" : two);
      i_ += 2;
      return;
    }
    constexpr std::string_view kKnown = "+-*/^_()[]{}|,;:=<>!%&'.";
    if (kKnown.find(at(0)) == std::string_view::npos) throw Unreadable();
    push(TokenKind::sign, rest().substr(0, 1));
    ++i_;
  }

  // The length of a separator between groups of three digits at i_; 0: none.
  std::size_t separator() const {
    for (const std::string_view mark : {",\\!", "\\!,\\!", "{,}", "\\,", "\\;", ","}) {
      if (!rest().starts_with(mark) || (mark == "," && nesting_ > 0)) continue;
      const std::size_t n = mark.size();
      if (is_digit(at(n)) && is_digit(at(n + 1)) && is_digit(at(n + 2)) && !is_digit(at(n + 3))) return n;
    }
    return 0;
  }

  void read_number() {
    std::string digits, repeating;
    while (is_digit(at(0))) digits += text_[i_++];
    if (digits.size() <= 3 && !digits.empty() && digits[0] != '0') {
      for (std::size_t n = separator(); n > 0; n = separator()) {
        digits += text_.substr(i_ + n, 3);
        i_ += n + 3;
      }
    }
    if (at(0) == '.' && is_digit(at(1))) {
      digits += text_[i_++];
      while (is_digit(at(0))) digits += text_[i_++];
    }
    constexpr std::string_view kBar = "\\overline{";
    if (rest().starts_with("." + std::string(kBar)) ||
        (digits.find('.') != std::string::npos && rest().starts_with(kBar))) {
      if (at(0) == '.') digits += text_[i_++];
      i_ += kBar.size();
      while (is_digit(at(0))) repeating += text_[i_++];
      if (repeating.empty() || at(0) != '}') throw Unreadable();
      ++i_;
    }
    const std::size_t sign = at(1) == '-' || at(1) == '+' ? 1 : 0;
    if (repeating.empty() && (at(0) == 'e' || at(0) == 'E') && is_digit(at(1 + sign))) {
      digits += 'e';
      if (sign == 1) digits += at(1);
      i_ += 1 + sign;
      while (is_digit(at(0))) digits += text_[i_++];
    }
    if (digits.size() + repeating.size() > kMaxDigits) throw Unreadable();
    push(TokenKind::number, digits);
    tokens_.back().repeating = repeating;
  }

  std::string_view braces() {  // the inside of { } at i_, which moves behind it
    while (i_ < text_.size() && is_space(at(0))) ++i_;
    if (at(0) != '{') throw Unreadable();
    const std::size_t begin = i_ + 1;
    int depth = 0;
    for (; i_ < text_.size(); ++i_) {
      if (text_[i_] == '\\') {
        ++i_;
        continue;
      }
      if (text_[i_] == '{') ++depth;
      if (text_[i_] == '}' && --depth == 0) return text_.substr(begin, i_++ - begin);
    }
    throw Unreadable();
  }

  void read_command() {
    const char next = at(1);
    if (!is_letter(next)) {
      i_ += 2;
      if (next == ',' || next == ';' || next == ':' || next == '!' || next == ' ' || next == '$' || next == '(' ||
          next == ')' || next == '[' || next == ']')
        blank_ = true;
      else if (next == '{' || next == '}')
        push(TokenKind::sign, next == '{' ? "\\{" : "\\}");
      else if (next == '%')
        push(TokenKind::sign, "%");
      else if (next == '\\')
        push(TokenKind::sign, "\\\\");
      else
        throw Unreadable();
      return;
    }
    std::size_t end = i_ + 1;
    while (end < text_.size() && is_letter(text_[end])) ++end;
    const std::string_view name = text_.substr(i_ + 1, end - i_ - 1);
    i_ = end;
    if (is_text_command(name)) return read_text(braces());
    if (is_font_command(name)) return read_font(braces());
    if (name == "mathbb" || name == "mathcal") {
      const std::string_view letter = trimmed(braces());
      if (letter.size() != 1 || !is_letter(letter[0])) throw Unreadable();
      return push(TokenKind::letter, std::string(name) + ':' + std::string(letter));
    }
    if (name == "begin" || name == "end") {
      std::string kind(name);
      kind += ':';
      kind += trimmed(braces());
      return push(TokenKind::command, kind);
    }
    const auto spelling = spelling_of(name);
    if (!spelling) throw Unreadable();
    switch (spelling->kind) {
      case Spelling::Kind::blank: blank_ = true; return;
      case Spelling::Kind::sign: return push(TokenKind::sign, spelling->text);
      case Spelling::Kind::command: return push(TokenKind::command, spelling->text);
      case Spelling::Kind::symbol: return push(TokenKind::letter, spelling->text);
    }
  }

  void read_letters() {
    std::size_t end = i_;
    while (end < text_.size() && is_letter(text_[end])) ++end;
    const std::string_view run = text_.substr(i_, end - i_);
    const bool behind_number =
        !tokens_.empty() && (tokens_.back().kind == TokenKind::number || tokens_.back().is_sign("}"));
    if (run == "or" || run == "and") {
      push(TokenKind::sign, run);
    } else if (is_function(run) || run == "sqrt" || run == "pi") {
      push(TokenKind::command, run);
      tokens_.back().bare = true;
    } else if (run.size() >= 4 || (behind_number && is_bare_unit(run))) {
      push(TokenKind::words, run);
    } else {
      for (const char letter : run) push(TokenKind::letter, std::string_view(&letter, 1));
    }
    i_ = end;
  }

  void read_font(std::string_view inside) {
    const std::string_view plain = trimmed(inside);
    if (is_function(plain)) return push(TokenKind::command, plain);
    const bool letters = !plain.empty() && std::all_of(plain.begin(), plain.end(), [](char c) {
      return is_letter(c) || is_space(c) || c == '.' || c == '-';
    });
    if (letters && inside.find_first_not_of(" ~") != std::string_view::npos &&
        (plain.size() > 1 || is_space(inside.front())))
      return read_text(inside);
    Lexer inner = within(inside);
    append(inner.run());
  }

  Lexer within(std::string_view inside) const {
    if (depth_ >= kMaxDepth) throw Unreadable();
    Lexer inner(inside);
    inner.depth_ = depth_ + 1;
    return inner;
  }

  void append(std::vector<Token> inner) {
    inner.pop_back();
    if (inner.empty()) return;
    push(TokenKind::sign, "{");
    tokens_.insert(tokens_.end(), inner.begin(), inner.end());
    push(TokenKind::sign, "}");
    if (tokens_.size() > kMaxNodes) throw Unreadable();
  }

  // Inside \text{…}: numbers and operators as outside, and all between them as words.
  void read_text(std::string_view inside) {
    std::string_view plain = inside;
    while (!plain.empty() && is_space(plain.front())) plain.remove_prefix(1);
    while (!plain.empty() && is_space(plain.back())) plain.remove_suffix(1);
    blank_ = true;
    if (plain.empty()) return;
    if (plain == "or" || plain == "and" || plain == "," || plain == ";") return push(TokenKind::sign, plain);
    if (std::none_of(plain.begin(), plain.end(), [](char c) { return is_digit(c) || c == '=' || c == '\\'; })) {
      std::string words(plain);
      std::replace(words.begin(), words.end(), '~', ' ');
      return push(TokenKind::words, words);
    }
    Lexer inner = within(plain);
    for (const Token& token : inner.run_text()) tokens_.push_back(token);
  }

  std::vector<Token> run_text() {
    while (i_ < text_.size()) {
      if (!is_letter(at(0))) {
        read_one();
      } else {
        std::size_t end = i_;
        while (end < text_.size() && (is_letter(text_[end]) || is_space(text_[end]))) ++end;
        push(TokenKind::words, trimmed(text_.substr(i_, end - i_)));
        i_ = end;
      }
      if (tokens_.size() > kMaxNodes) throw Unreadable();
    }
    return std::move(tokens_);
  }

  std::string_view text_;
  std::size_t i_ = 0;
  int nesting_ = 0, depth_ = 0;
  bool blank_ = false;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokens_of(std::string_view text) { return Lexer(text).run(); }

}  // namespace maxplus::math
