// Numbers, symbols, fractions, roots, functions, brackets and matrices.
#include <algorithm>
#include <array>

#include "verify/math/parser.hpp"
#include "verify/math/spelling.hpp"

namespace maxplus::math {

namespace {

bool is_whole(const Token& token) {
  return token.kind == TokenKind::number && token.repeating.empty() &&
         token.text.find_first_not_of("0123456789") == std::string::npos;
}

// a < b for whole numbers without leading zeros.
bool is_less(std::string_view a, std::string_view b) { return a.size() != b.size() ? a.size() < b.size() : a < b; }

}  // namespace

Node Parser::primary() {
  const Nesting nesting(depth_);
  const Token token = next();
  switch (token.kind) {
    case TokenKind::number: return number();
    case TokenKind::letter: return letter();
    case TokenKind::words: ++i_; return make(NodeKind::words, {}, token.text);
    case TokenKind::command: return command();
    case TokenKind::sign: return bracketed();
    case TokenKind::end: break;
  }
  throw Unreadable();
}

// Behind a whole number: \frac{1}{2}, \frac12, or a blank and 1/2; a proper fraction of whole numbers.
bool Parser::starts_mixed_fraction() const {
  if (next().is(TokenKind::command, "frac")) {
    if (is_whole(next(1)))
      return next(1).text.size() == 2 && is_less(next(1).text.substr(0, 1), next(1).text.substr(1));
    return next(1).is_sign("{") && is_whole(next(2)) && next(3).is_sign("}") && next(4).is_sign("{") &&
           is_whole(next(5)) && next(6).is_sign("}") && is_less(next(2).text, next(5).text);
  }
  return next().blank_before && is_whole(next()) && next(1).is_sign("/") && is_whole(next(2)) &&
         is_less(next().text, next(2).text);
}

Node Parser::number() {
  const Token token = next();
  ++i_;
  if (is_whole(token) && next().is_sign("_")) {  // a numeral in another base is not a number of base ten
    ++i_;
    const bool group = take("{");
    if (!is_whole(next())) throw Unreadable();
    const std::string base = next().text;
    ++i_;
    if (group) expect("}");
    return make(NodeKind::numeral, {}, token.text + '_' + base);
  }
  Node whole = make(NodeKind::number, {}, token.text);
  whole.repeating = token.repeating;
  if (!is_whole(token) || !starts_mixed_fraction()) return whole;
  std::vector<Node> two;
  two.push_back(std::move(whole));
  if (next().kind == TokenKind::command) {
    two.push_back(command());
  } else {
    std::vector<Node> fraction;
    fraction.push_back(make(NodeKind::number, {}, next().text));
    fraction.push_back(make(NodeKind::number, {}, next(2).text));
    i_ += 3;
    two.push_back(make(NodeKind::product, std::move(fraction), "*/"));
  }
  return make(NodeKind::sum, std::move(two), "++");
}

// The tokens of braces, or one token, as a name.
std::string Parser::raw_group() {
  std::string name;
  if (!take("{")) {
    name = next().text;
    if (next().kind != TokenKind::letter && next().kind != TokenKind::number) throw Unreadable();
    ++i_;
    return name;
  }
  while (!next().is_sign("}")) {
    const Token& token = next();
    const bool plain = token.kind == TokenKind::letter || token.kind == TokenKind::number ||
                       token.kind == TokenKind::words || token.is_sign("+") || token.is_sign("-") || token.is_sign(",");
    if (!plain || name.size() > 100) throw Unreadable();
    name += token.text;
    ++i_;
  }
  ++i_;
  return name;
}

Node Parser::letter() {
  std::string name = next().text;
  ++i_;
  if (take("_")) name += '_' + raw_group();
  for (int primes = 0; next().is_sign("'") && primes < kMaxPostfix; ++primes) {
    name += '\'';
    ++i_;
  }
  if (name == "mathbb:R") return make(NodeKind::all_reals, {}, "");
  if ((name == "f" || name == "g") && next().is_sign("(")) {
    std::vector<Node> one;
    one.push_back(bracketed());
    return make(NodeKind::function, std::move(one), "of " + name);
  }
  return make(NodeKind::symbol, {}, name);
}

Node Parser::command() {
  const Token token = next();
  ++i_;
  const std::string& name = token.text;
  if (name == "pi") return make(NodeKind::symbol, {}, "π");
  if (name == "infty") return make(NodeKind::symbol, {}, "∞");
  if (name == "emptyset") return make(NodeKind::set, {}, "");
  if (name == "frac" || name == "binom") {
    std::vector<Node> two;
    two.push_back(argument());
    two.push_back(argument());
    return name == "frac" ? make(NodeKind::product, std::move(two), "*/")
                          : make(NodeKind::function, std::move(two), "binom");
  }
  if (name == "sqrt") return square_root(token.bare);
  if (name == "overline" || name == "vec" || name == "hat" || name == "bar")
    return make(NodeKind::symbol, {}, name + ' ' + raw_group());
  if (name == "angle") {
    std::string label = "angle ";
    while (next().kind == TokenKind::letter && label.size() < 20) {
      label += next().text;
      ++i_;
    }
    return make(NodeKind::symbol, {}, label);
  }
  if (name.starts_with("begin:")) return matrix(std::string_view(name).substr(6));
  if (is_function(name)) return function(name);
  throw Unreadable();
}

// Where no braces are, LaTeX takes one digit or letter.
Node Parser::argument() {
  const Nesting nesting(depth_);
  if (take("{")) {
    Node inside = operand();
    expect("}");
    return inside;
  }
  if (next().kind == TokenKind::number) {
    Token& token = token_[i_];
    if (!is_whole(token)) throw Unreadable();
    const std::string first = token.text.substr(0, 1);
    if (token.text.size() == 1)
      ++i_;
    else
      token.text.erase(0, 1);
    return make(NodeKind::number, {}, first);
  }
  if (next().kind == TokenKind::letter || next().kind == TokenKind::command) return primary();
  throw Unreadable();
}

Node Parser::square_root(bool bare) {
  std::vector<Node> two;
  if (take("[")) {
    Node index = sum();
    expect("]");
    two.push_back(std::move(index));
  }
  if (next().is_sign("(") || (bare && next().kind == TokenKind::number)) {
    two.insert(two.begin(), primary());
  } else {
    if (next().kind == TokenKind::number && next().text.size() > 1) throw Unreadable();  // \sqrt12: of 1 or of 12?
    two.insert(two.begin(), argument());
  }
  return make(NodeKind::function, std::move(two), "sqrt");
}

// \sin x, \sin(x), \sin^2 x, \log_2 8, \max(1, 2).
Node Parser::function(std::string_view name) {
  const Nesting nesting(depth_);
  std::vector<Node> parts(1), raised;
  if (take("_")) {
    if (take("{")) {
      parts.push_back(sum());
      expect("}");
    } else {
      parts.push_back(argument());
    }
  }
  if (take("^")) raised.push_back(exponent());
  parts[0] = function_argument();
  if (!raised.empty() && raised[0].kind == NodeKind::sum) {  // sin^{-1}: an inverse, or one over it
    parts.push_back(std::move(raised[0]));
    return make(NodeKind::function, std::move(parts), "raised " + std::string(name));
  }
  Node value = make(NodeKind::function, std::move(parts), std::string(name));
  if (raised.empty()) return value;
  raised.insert(raised.begin(), std::move(value));
  return make(NodeKind::power, std::move(raised), "");
}

// A parenthesis, or the factors up to an operator, another function or a parenthesis.
Node Parser::function_argument() {
  if (next().is_sign("(") || next().is_sign("|")) return postfix(bracketed());
  if (next().is_sign("{")) return factor();
  std::vector<Node> factors;
  std::string signs;
  while (starts_factor() && !next().is_sign("(")) {
    const Token& token = next();
    if (token.kind == TokenKind::command && is_function(token.text) && !factors.empty()) break;
    if (token.kind == TokenKind::number && !factors.empty()) throw Unreadable();
    factors.push_back(factor());
    signs += '*';
  }
  if (factors.empty()) throw Unreadable();
  if (factors.size() == 1) return std::move(factors[0]);
  return make(NodeKind::product, std::move(factors), signs);
}

Node Parser::bracketed() {
  const Nesting nesting(depth_);
  if (take("{")) {
    Node inside = item();
    expect("}");
    return inside;
  }
  if (take("|")) {
    ++inside_bars_;
    std::vector<Node> one;
    one.push_back(sum());
    --inside_bars_;
    expect("|");
    return make(NodeKind::function, std::move(one), "abs");
  }
  for (const auto& [open, close, name] :
       {std::array{"lfloor", "rfloor", "floor"}, std::array{"lceil", "rceil", "ceil"}}) {
    if (!take(open)) continue;
    std::vector<Node> one;
    one.push_back(sum());
    expect(close);
    return make(NodeKind::function, std::move(one), name);
  }
  if (take("\\{")) {
    if (take("\\}")) return make(NodeKind::set, {}, "");
    Node all = make(NodeKind::set, items(true), "");
    expect("\\}");
    return all;
  }
  const int bars = std::exchange(inside_bars_, 0);
  std::string brackets;
  if (take("("))
    brackets = "(";
  else if (take("["))
    brackets = "[";
  else if (take("<("))
    brackets = "<";
  else
    throw Unreadable();
  std::vector<Node> all = items(false);
  if (brackets == "<") {
    expect(")>");
    brackets = "()";
  } else if (take(")")) {
    brackets += ')';
  } else {
    expect("]");
    brackets += ']';
  }
  inside_bars_ = bars;
  if (all.size() == 1 && (brackets == "()" || brackets == "[]")) return std::move(all[0]);
  return make(NodeKind::ordered, std::move(all), brackets);
}

Node Parser::matrix(std::string_view kind) {
  if (kind != "pmatrix" && kind != "bmatrix" && kind != "matrix") throw Unreadable();
  const std::string end = "end:" + std::string(kind);
  std::vector<Node> cells;
  int columns = 0, row = 0;
  while (true) {
    cells.push_back(item());
    if (cells.size() > kMaxItems) throw Unreadable();
    ++row;
    if (take("&")) continue;
    if (columns == 0) columns = row;
    if (row != columns) throw Unreadable();
    row = 0;
    const bool more = take("\\\\");
    if (next().is(TokenKind::command, end)) break;
    if (!more) throw Unreadable();
  }
  ++i_;
  Node node = make(NodeKind::matrix, std::move(cells), "");
  node.columns = columns;
  return node;
}

}  // namespace maxplus::math
