// The value of a tree: lists, sets, relations and what they are made of.
#include <algorithm>

#include "verify/math/spelling.hpp"
#include "verify/math/value.hpp"

namespace maxplus::math {

namespace {

bool has_plus_minus(const Node& node) {
  if (node.kind == NodeKind::sum && node.text.find_first_of("pm") != std::string::npos) return true;
  return std::any_of(node.child.begin(), node.child.end(), has_plus_minus);
}

bool is_capital(const std::string& name) { return name.size() == 1 && name[0] >= 'A' && name[0] <= 'Z'; }

// What the left side of x = 5, AB = 5, f(x) = 5, Area = 5, (x, y) = (1, 2) is called; "": it is no name.
std::string label_of(const Node& node) {
  switch (node.kind) {
    case NodeKind::symbol:
      return node.text == "π" || node.text == "∞" || node.text == "e" || node.text == "i" ? "" : node.text;
    case NodeKind::words: return normal_words(node.text);
    case NodeKind::function: return node.text.starts_with("of ") ? node.text : "";
    case NodeKind::product: {
      std::string name;
      for (const Node& factor : node.child) {
        if (factor.kind != NodeKind::symbol || !is_capital(factor.text)) return "";
        name += factor.text;
      }
      return name.size() <= 3 && node.text.find('/') == std::string::npos ? name : "";
    }
    case NodeKind::ordered: {
      std::string name = "(";
      for (const Node& part : node.child) {
        if (part.kind != NodeKind::symbol) return "";
        name += part.text + ',';
      }
      return name;
    }
    default: return "";
  }
}

// 30° is 30 of the unit degree.
void take_degrees_as_unit(Value& value) {
  for (const auto& [m, c] : value.scalar.above) {
    const auto found = m.find("s°");
    if (found == m.end() || found->second != 1) return;
  }
  if (value.scalar.above.empty() || !is_constant(value.scalar.below)) return;
  Polynomial without;
  for (const auto& [m, c] : value.scalar.above) {
    Monomial rest = m;
    rest.erase("s°");
    without[rest] = c;
  }
  value.scalar.above = std::move(without);
  value.unit = "°";
}

bool is_plus_or_minus_infinity(const Scalar& a) {
  if (a.above.size() != 1 || !is_constant(a.below)) return false;
  const auto& [m, c] = *a.above.begin();
  return m.size() == 1 && m.begin()->first == "s∞" && m.begin()->second == 1 && abs(c) == 1;
}

}  // namespace

Value Evaluation::answer(const Node& node) {
  if (node.kind == NodeKind::list || node.kind == NodeKind::set) return item(node);
  std::vector<Node> one{node};
  std::vector<Value> all = spliced(one);
  if (all.size() == 1) return std::move(all[0]);
  Value list;
  list.kind = Value::Kind::list;
  list.item = std::move(all);
  return list;
}

// One with plus-minus is two.
std::vector<Value> Evaluation::spliced(const std::vector<Node>& nodes) {
  std::vector<Value> all;
  for (const Node& node : nodes) {
    all.push_back(item(node));
    if (!has_plus_minus(node)) continue;
    upper_sign_ = false;
    all.push_back(item(node));
    upper_sign_ = true;
  }
  return all;
}

Value Evaluation::structure(const Node& node, Value::Kind kind) {
  Value value;
  value.kind = kind;
  value.text = node.text;
  value.columns = node.columns;
  if (kind == Value::Kind::set || kind == Value::Kind::list) {
    value.item = spliced(node.child);
    return value;
  }
  for (const Node& child : node.child) {
    if (has_plus_minus(child)) throw Unreadable();
    value.item.push_back(item(child));
  }
  return value;
}

Value Evaluation::words(const std::string& text) {
  Value value;
  value.text = normal_words(text);
  if (value.text.empty()) throw Unreadable();
  if (value.text.size() == 1) {
    value.scalar = field_.atom('s' + value.text);
    return value;
  }
  value.kind = Value::Kind::words;
  const std::string& w = value.text;
  if (w == "all real numbers" || w == "all reals" || w == "the real numbers" || w == "all real values") {
    Node reals;
    reals.kind = NodeKind::all_reals;
    return item(reals);
  }
  return value;
}

Value Evaluation::item(const Node& node) {
  switch (node.kind) {
    case NodeKind::words: return words(node.text);
    case NodeKind::ordered: return structure(node, Value::Kind::ordered);
    case NodeKind::set: return structure(node, Value::Kind::set);
    case NodeKind::list: return structure(node, Value::Kind::list);
    case NodeKind::ratio: return structure(node, Value::Kind::ratio);
    case NodeKind::matrix: return structure(node, Value::Kind::matrix);
    case NodeKind::unite: return structure(node, Value::Kind::unite);
    case NodeKind::meet: return structure(node, Value::Kind::meet);
    case NodeKind::without: return structure(node, Value::Kind::without);
    case NodeKind::relation: return relation(node);
    case NodeKind::product: {
      const bool matrix =
          std::any_of(node.child.begin(), node.child.end(), [](const Node& n) { return n.kind == NodeKind::matrix; });
      if (matrix) return scaled_matrix(node);
      break;
    }
    default: break;
  }
  Value value;
  if (node.kind == NodeKind::numeral) {
    value.kind = Value::Kind::numeral;
    value.text = node.text.substr(std::min(node.text.find_first_not_of('0'), node.text.size()));
    return value;
  }
  if (node.kind == NodeKind::all_reals) {
    value.kind = Value::Kind::ordered;
    value.text = "()";
    for (const int sign : {-1, 1}) {
      Value end;
      end.scalar = field_.multiply(field_.number(sign), field_.atom("s∞"));
      value.item.push_back(std::move(end));
    }
    return value;
  }
  if (node.kind == NodeKind::quantity) {
    value = item(node.child[0]);
    if (value.kind != Value::Kind::scalar) throw Unreadable();
    value.unit += node.text;
    return value;
  }
  value.scalar = scalar(node);
  if (has_infinity(value.scalar) && !is_plus_or_minus_infinity(value.scalar)) throw Unreadable();
  value.cut = cut_of(node);
  take_degrees_as_unit(value);
  return value;
}

Value Evaluation::scaled_matrix(const Node& node) {
  Value matrix;
  Scalar factor = field_.number(1);
  bool found = false;
  for (std::size_t i = 0; i < node.child.size(); ++i) {
    if (node.child[i].kind == NodeKind::matrix) {
      if (found || node.text[i] == '/') throw Unreadable();
      matrix = item(node.child[i]);
      found = true;
    } else {
      const Scalar value = finite(node.child[i]);
      factor = node.text[i] == '*' ? field_.multiply(factor, value) : field_.divide(factor, value);
    }
  }
  for (Value& cell : matrix.item) {
    if (cell.kind != Value::Kind::scalar || !cell.unit.empty()) throw Unreadable();
    cell.scalar = field_.multiply(cell.scalar, factor);
    cell.cut.reset();
  }
  return matrix;
}

Value Evaluation::relation(const Node& node) {
  std::vector<std::string> signs;
  for (std::size_t begin = 0; begin < node.text.size();) {
    const std::size_t end = node.text.find(' ', begin);
    signs.push_back(node.text.substr(begin, end - begin));
    begin = end + 1;
  }
  std::vector<Value> side;
  for (const Node& child : node.child) side.push_back(item(child));
  const bool equations = std::all_of(signs.begin(), signs.end(), [](const std::string& s) { return s == "="; });
  if (equations) {
    // a = b = c: what stands behind the first sign must be the same each time.
    const auto same = [this](const Value& a, const Value& b) {
      return a.kind == Value::Kind::scalar && b.kind == Value::Kind::scalar && a.unit == b.unit &&
             !has_infinity(a.scalar) && !has_infinity(b.scalar) && field_.equal(a.scalar, b.scalar);
    };
    for (std::size_t i = 2; i < side.size(); ++i) {
      if (!same(side[i - 1], side[i])) throw Unreadable();
    }
    if (side[0].kind == Value::Kind::scalar && is_number(side[0].scalar)) {
      if (side.back().kind != Value::Kind::scalar) throw Unreadable();
      if (is_number(side.back().scalar)) {  // 2 + 3 = 5
        if (!same(side[0], side.back())) throw Unreadable();
        return side.back();
      }
    }
  }
  const auto pair = [&](Value a, Value b, const std::string& sign) {
    Value value;
    value.kind = Value::Kind::relation;
    value.text = sign;
    if (sign == "=" || sign == "in") value.label = label_of(node.child[0]);
    // AB = 5 tells what 5 is called; AB = CD says something else than CD.
    if (node.child[0].kind == NodeKind::product && !(b.kind == ValueKind::scalar && is_number(b.scalar)))
      value.label.clear();
    value.item.push_back(std::move(a));
    value.item.push_back(std::move(b));
    return value;
  };
  if (equations) return pair(std::move(side[0]), std::move(side.back()), "=");
  if (signs.size() == 1) return pair(std::move(side[0]), std::move(side[1]), signs[0]);
  Value chain;  // 0 < x < 5
  chain.kind = Value::Kind::list;
  chain.text = "chain";
  for (std::size_t i = 0; i < signs.size(); ++i) {
    if (signs[i] == "=" || signs[i] == "in" || signs[i] == "!=") throw Unreadable();
    chain.item.push_back(pair(side[i], side[i + 1], signs[i]));
  }
  return chain;
}

}  // namespace maxplus::math
