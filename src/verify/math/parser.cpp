// Lists, relations, unions, sums, products, powers and units.
#include "verify/math/parser.hpp"

#include <algorithm>

#include "text/utf8.hpp"
#include "verify/math/spelling.hpp"

namespace maxplus::math {

namespace {

std::string_view relation_sign(const Token& token) {
  if (token.kind != TokenKind::sign) return "";
  for (const std::string_view sign : {"=", "<", ">", "<=", ">=", "!=", "in"}) {
    if (token.text == sign) return sign;
  }
  return "";
}

bool is_percent(std::string_view words) {
  const std::string normal = normal_words(words);
  return normal == "percent" || normal == "per cent" || normal == "percentage";
}

}  // namespace

Node tree_of(const std::vector<Token>& tokens) { return Parser(tokens).answer(); }

bool Parser::take(std::string_view sign) {
  if (!next().is_sign(sign)) return false;
  ++i_;
  return true;
}

void Parser::expect(std::string_view sign) {
  if (!take(sign)) throw Unreadable();
}

Node Parser::make(NodeKind kind, std::vector<Node> children, std::string text) {
  if (++nodes_ > kMaxNodes) throw Unreadable();
  Node node;
  node.kind = kind;
  node.child = std::move(children);
  node.text = std::move(text);
  return node;
}

Node Parser::answer() {
  if (token_.size() > 1 && token_[token_.size() - 2].is_sign(".")) token_.erase(token_.end() - 2);
  take("=");
  std::vector<Node> all = items(true);
  if (next().kind != TokenKind::end) throw Unreadable();
  if (all.size() == 1) return std::move(all[0]);
  return make(NodeKind::list, std::move(all), "");
}

std::vector<Node> Parser::items(bool words_between) {
  std::vector<Node> all;
  do {
    all.push_back(item());
    if (all.size() > kMaxItems) throw Unreadable();
    bool again = take(",") || take(";");
    if (words_between && (next().is_sign("or") || next().is_sign("and"))) {
      ++i_;
      again = true;
    }
    if (!again) break;
  } while (true);
  return all;
}

Node Parser::item() {
  const Nesting nesting(depth_);
  std::vector<Node> sides;
  sides.push_back(united());
  std::string signs;
  while (!relation_sign(next()).empty()) {
    signs += relation_sign(next());
    signs += ' ';
    ++i_;
    sides.push_back(united());
    if (sides.size() > kMaxItems) throw Unreadable();
  }
  if (sides.size() > 1) return make(NodeKind::relation, std::move(sides), signs);
  if (!next().is_sign(":")) return std::move(sides[0]);
  while (take(":")) sides.push_back(united());
  if (sides.size() > kMaxItems) throw Unreadable();
  return make(NodeKind::ratio, std::move(sides), "");
}

Node Parser::united() {
  Node first = operand();
  for (const auto& [sign, kind] : {std::pair("cup", NodeKind::unite), std::pair("cap", NodeKind::meet)}) {
    if (!next().is_sign(sign)) continue;
    std::vector<Node> parts;
    parts.push_back(std::move(first));
    while (take(sign)) parts.push_back(operand());
    if (parts.size() > kMaxItems) throw Unreadable();
    return make(kind, std::move(parts), "");
  }
  if (!take("setminus")) return first;
  std::vector<Node> two;
  two.push_back(std::move(first));
  two.push_back(operand());
  return make(NodeKind::without, std::move(two), "");
}

Node Parser::operand() {
  Node value = sum();
  if (!takes_unit(value) || next().kind != TokenKind::words) return value;
  if (is_percent(next().text)) {
    ++i_;
    std::vector<Node> one;
    one.push_back(std::move(value));
    return make(NodeKind::percent, std::move(one), "");
  }
  std::string name = unit();
  std::vector<Node> one;
  one.push_back(std::move(value));
  return make(NodeKind::quantity, std::move(one), std::move(name));
}

bool Parser::takes_unit(const Node& node) const {
  switch (node.kind) {
    case NodeKind::words:
    case NodeKind::ordered:
    case NodeKind::set:
    case NodeKind::list:
    case NodeKind::matrix:
    case NodeKind::all_reals: return false;
    default: return true;
  }
}

// words ( ^ digits ) ( / words or a letter ( ^ digits ) ) …
std::string Parser::unit() {
  std::string name;
  while (true) {
    const Token& word = next();
    if (word.kind != TokenKind::words && !(word.kind == TokenKind::letter && name.ends_with('/'))) throw Unreadable();
    if (!may_be_unit(word.text)) throw Unreadable();
    if (!name.empty() && !name.ends_with('/')) name += ' ';
    name += unit_name(word.text);
    ++i_;
    if (take("^")) {
      const bool group = take("{");
      if (next().kind != TokenKind::number) throw Unreadable();
      name += '^' + next().text;
      ++i_;
      if (group) expect("}");
    }
    if (take("/"))
      name += '/';
    else if (next().kind != TokenKind::words)
      break;
  }
  if (name.size() > 200) throw Unreadable();
  return name;
}

Node Parser::sum() {
  std::vector<Node> terms;
  std::string signs;
  while (true) {
    char sign = '+';
    bool any = false;
    while (true) {
      if (take("+")) {
        any = true;
      } else if (take("-")) {
        sign = sign == '+' ? '-' : sign == '-' ? '+' : sign == 'p' ? 'm' : 'p';
        any = true;
      } else if (next().is_sign("pm") || next().is_sign("mp")) {
        if (sign == 'p' || sign == 'm') throw Unreadable();
        sign = next().is_sign("pm") == (sign == '+') ? 'p' : 'm';
        ++i_;
        any = true;
      } else {
        break;
      }
    }
    if (!terms.empty() && !any) break;
    terms.push_back(product());
    signs += sign;
  }
  if (terms.size() == 1 && signs == "+") return std::move(terms[0]);
  return make(NodeKind::sum, std::move(terms), signs);
}

Node Parser::product() {
  std::vector<Node> factors;
  std::string signs = "*";
  factors.push_back(factor());
  bool divided = false;
  while (true) {
    if (take("*")) {
      divided = false;
      signs += '*';
      factors.push_back(signed_factor());
    } else if (take("/")) {
      divided = true;
      signs += '/';
      factors.push_back(signed_factor());
    } else if (starts_factor()) {
      // 1/2x is read in two ways; two numbers side by side are no product.
      const bool number = next(next().is_sign("{") ? 1 : 0).kind == TokenKind::number;
      if (divided || number) throw Unreadable();
      if (factors.back().kind == NodeKind::words) throw Unreadable();
      signs += '*';
      factors.push_back(factor());
    } else {
      break;
    }
  }
  if (factors.size() == 1) return std::move(factors[0]);
  return make(NodeKind::product, std::move(factors), signs);
}

Node Parser::signed_factor() {
  bool negative = false;
  while (next().is_sign("-") || next().is_sign("+")) {
    if (next().is_sign("-")) negative = !negative;
    ++i_;
  }
  if (!negative) return factor();
  std::vector<Node> one;
  one.push_back(factor());
  return make(NodeKind::sum, std::move(one), "-");
}

bool Parser::starts_factor() const {
  const Token& token = next();
  switch (token.kind) {
    case TokenKind::number:
    case TokenKind::letter: return true;
    case TokenKind::command: return !token.text.starts_with("end:") && token.text != "circ" && token.text != "degree";
    case TokenKind::sign:
      return token.text == "(" || token.text == "{" || token.text == "lfloor" || token.text == "lceil" ||
             (token.text == "|" && inside_bars_ == 0);
    default: return false;
  }
}

Node Parser::factor() { return postfix(primary()); }

Node Parser::postfix(Node base) {
  for (int count = 0;; ++count) {
    if (count > kMaxPostfix) throw Unreadable();
    std::vector<Node> children;
    NodeKind kind = NodeKind::power;
    if (take("!")) {
      kind = NodeKind::factorial;
    } else if (take("%")) {
      kind = NodeKind::percent;
    } else if (next().is(TokenKind::command, "degree")) {
      ++i_;
      kind = NodeKind::degrees;
    } else if (next().is_sign("^")) {
      const bool group = next(1).is_sign("{");
      const Token& raised = next(group ? 2 : 1);
      if (raised.kind == TokenKind::command && (raised.text == "circ" || raised.text == "degree")) {
        i_ += group ? 3 : 2;
        if (group) expect("}");
        kind = NodeKind::degrees;
      } else {
        ++i_;
        children.push_back(std::move(base));
        children.push_back(exponent());
        base = make(NodeKind::power, std::move(children), "");
        continue;
      }
    } else {
      return base;
    }
    children.push_back(std::move(base));
    base = make(kind, std::move(children), "");
  }
}

// Braces, or a sign and one number, letter, function or parenthesis; from the right: 2^3^4 = 2^(3^4).
Node Parser::exponent() {
  const Nesting nesting(depth_);
  if (take("{")) {
    Node inside = sum();
    expect("}");
    return inside;
  }
  const bool negative = take("-");
  Node node = primary();
  if (take("^")) {
    std::vector<Node> two;
    two.push_back(std::move(node));
    two.push_back(exponent());
    node = make(NodeKind::power, std::move(two), "");
  }
  if (!negative) return node;
  std::vector<Node> one;
  one.push_back(std::move(node));
  return make(NodeKind::sum, std::move(one), "-");
}

}  // namespace maxplus::math
