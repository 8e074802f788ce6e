// Assertions of a Python data set read as data: a small reader of Python's literals.
#include <cstdlib>
#include <stdexcept>

#include "verify/characters.hpp"
#include "verify/code/test_cases.hpp"

namespace maxplus {

namespace {

constexpr int kMaxLiteralDepth = 64;

class Unreadable : public std::exception {};

bool starts_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

class LiteralReader {
 public:
  explicit LiteralReader(std::string_view text) : text_(text) {}

  void blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r'))
      ++at_;
  }
  bool take(std::string_view token) {
    blanks();
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }
  void need(std::string_view token) {
    if (!take(token)) throw Unreadable();
  }
  bool done() {
    blanks();
    return at_ == text_.size();
  }
  std::string name() {
    blanks();
    const std::size_t begin = at_;
    if (at_ < text_.size() && starts_name(text_[at_])) {
      while (at_ < text_.size() && (starts_name(text_[at_]) || is_digit(text_[at_]))) ++at_;
    }
    return std::string(text_.substr(begin, at_ - begin));
  }
  // Items up to the closing bracket; `comma`: whether one followed the last.
  Json items(std::string_view close, int depth, bool* comma) {
    Json list = Json::array();
    *comma = false;
    while (!take(close)) {
      if (!list.empty() && !*comma) throw Unreadable();
      list.push_back(value(depth));
      *comma = take(",");
    }
    return list;
  }
  Json value(int depth) {
    if (depth > kMaxLiteralDepth) throw Unreadable();
    bool comma = false;
    if (take("[")) return items("]", depth + 1, &comma);
    if (take("(")) {
      Json list = items(")", depth + 1, &comma);
      return list.size() == 1 && !comma ? list[0] : Json{{"__tuple__", std::move(list)}};
    }
    if (take("{")) return braces(depth + 1);
    blanks();
    if (at_ == text_.size()) throw Unreadable();
    const char c = text_[at_];
    if (c == '"' || c == '\'') {
      std::string whole = string();
      for (blanks(); at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\''); blanks()) whole += string();
      return whole;
    }
    if (is_digit(c) || c == '-' || c == '+' || c == '.') return number();
    const std::string word = name();
    if (word == "None") return nullptr;
    if (word == "True") return true;
    if (word == "False") return false;
    if (word == "set" && take("(") && take(")")) return Json{{"__set__", Json::array()}};
    throw Unreadable();
  }

 private:
  Json braces(int depth) {
    if (take("}")) return Json::object();
    Json first = value(depth);
    bool comma = false;
    if (!take(":")) {
      comma = take(",");
      Json list = Json::array({std::move(first)});
      while (!take("}")) {
        if (!comma) throw Unreadable();
        list.push_back(value(depth));
        comma = take(",");
      }
      return Json{{"__set__", std::move(list)}};
    }
    Json pairs = Json::array();
    pairs.push_back(Json::array({std::move(first), value(depth)}));
    comma = take(",");
    while (!take("}")) {
      if (!comma) throw Unreadable();
      Json key = value(depth);
      need(":");
      pairs.push_back(Json::array({std::move(key), value(depth)}));
      comma = take(",");
    }
    return Json{{"__dict__", std::move(pairs)}};
  }
  Json number() {
    const std::size_t begin = at_;
    bool whole = true;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      const bool sign = c == '-' || c == '+';
      if (sign && at_ > begin && text_[at_ - 1] != 'e' && text_[at_ - 1] != 'E') break;
      if (c == '.' || c == 'e' || c == 'E') whole = false;
      if (!is_digit(c) && !sign && c != '.' && c != 'e' && c != 'E' && c != '_') break;
    }
    std::string digits;
    for (const char c : text_.substr(begin, at_ - begin)) {
      if (c != '_') digits += c;
    }
    if (at_ < text_.size() && starts_name(text_[at_])) throw Unreadable();  // 0x10, 3j
    char* end = nullptr;
    const double real = std::strtod(digits.c_str(), &end);
    if (end != digits.c_str() + digits.size() || digits.empty()) throw Unreadable();
    if (!whole) return real;
    errno = 0;
    const long long integer = std::strtoll(digits.c_str(), nullptr, 10);
    if (errno == ERANGE) return Json{{"__int__", digits}};
    return integer;
  }
  std::string string() {
    const char quote = text_[at_];
    const bool triple = text_.substr(at_, 3) == std::string(3, quote);
    at_ += triple ? 3 : 1;
    const std::string close(triple ? 3 : 1, quote);
    std::string whole;
    while (text_.substr(at_, close.size()) != close) {
      if (at_ >= text_.size()) throw Unreadable();
      whole += text_[at_] == '\\' ? escape() : text_[at_++];
    }
    at_ += close.size();
    return whole;
  }
  char escape() {
    ++at_;
    if (at_ >= text_.size()) throw Unreadable();
    switch (text_[at_++]) {
      case 'n': return '\n';
      case 't': return '\t';
      case 'r': return '\r';
      case '0': return '\0';
      case '\\': return '\\';
      case '\'': return '\'';
      case '"': return '"';
      default: throw Unreadable();
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

bool add_assertion(std::string_view line, CodeTests* tests) {
  try {
    LiteralReader reader(line);
    reader.need("assert");
    const std::size_t before_not = line.find("not ");
    const bool negated = before_not != std::string_view::npos && reader.take("not ");
    const std::string function = reader.name();
    if (function.empty() || (!tests->function.empty() && tests->function != function)) return false;
    reader.need("(");
    bool comma = false;
    CodeTest test;
    test.call = reader.items(")", 0, &comma);
    if (!negated && (reader.take("==") || reader.take("is "))) {
      test.expect = reader.value(0);
    } else {
      test.expect = !negated;
    }
    if (!reader.done() && !reader.take(",")) return false;  // a message may follow
    tests->function = function;
    tests->test.push_back(std::move(test));
    return true;
  } catch (const Unreadable&) {
    return false;
  }
}

}  // namespace maxplus
