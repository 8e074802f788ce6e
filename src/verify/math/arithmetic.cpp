// The value of a tree that is one number or formula.
#include <algorithm>

#include "verify/math/value.hpp"

namespace maxplus::math {

namespace {

// 12.50e-3 as mantissa, exponent of ten and significant digits.
struct Written {
  mpq_class mantissa;
  long exponent = 0;
  std::size_t decimals = 0, significant = 0;
  bool has_point = false;
};

Written written(const std::string& text) {
  Written w;
  const std::size_t e = std::min(text.find('e'), text.size());
  if (e < text.size()) {
    if (text.size() - e > 10) throw Unreadable();
    w.exponent = std::stol(text.substr(e + 1));
  }
  std::string digits;
  for (const char c : text.substr(0, e)) {
    if (c == '.')
      w.has_point = true;
    else
      digits += c;
    if (w.has_point && c != '.') ++w.decimals;
  }
  if (digits.empty()) throw Unreadable();
  const std::size_t first = std::min(digits.find_first_not_of('0'), digits.size());
  w.significant = digits.size() - first;
  mpz_class below;
  mpz_ui_pow_ui(below.get_mpz_t(), 10, w.decimals);
  w.mantissa = mpq_class(mpz_class(digits, 10), below);
  w.mantissa.canonicalize();
  return w;
}

}  // namespace

bool has_infinity(const Scalar& a) {
  for (const Polynomial* p : {&a.above, &a.below}) {
    for (const auto& [m, c] : *p) {
      if (m.contains("s∞")) return true;
    }
  }
  return false;
}

bool is_number(const Scalar& a) {
  for (const Polynomial* p : {&a.above, &a.below}) {
    for (const auto& [m, c] : *p) {
      for (const auto& [atom, exponent] : m) {
        if (atom[0] != 'a' && atom != "i" && atom != "sπ" && atom != "se") return false;
      }
    }
  }
  return true;
}

Scalar Evaluation::finite(const Node& node) {
  Scalar value = scalar(node);
  if (has_infinity(value)) throw Unreadable();
  return value;
}

Scalar Evaluation::scalar(const Node& node) {
  switch (node.kind) {
    case NodeKind::number: return number(node);
    case NodeKind::symbol: return node.text == "i" ? field_.atom("i") : field_.atom('s' + node.text);
    case NodeKind::sum: return sum(node);
    case NodeKind::product: return product(node);
    case NodeKind::power: return field_.power(finite(node.child[0]), finite(node.child[1]));
    case NodeKind::function: return function(node);
    case NodeKind::factorial: return field_.factorial(finite(node.child[0]));
    case NodeKind::percent: return field_.divide(finite(node.child[0]), field_.number(100));
    case NodeKind::degrees: return field_.multiply(finite(node.child[0]), field_.atom("s°"));
    default: throw Unreadable();
  }
}

Scalar Evaluation::number(const Node& node) {
  if (!node.repeating.empty()) {  // 0.1(6) = 0.1 + 6/90
    const std::string text = node.text.ends_with('.') ? node.text.substr(0, node.text.size() - 1) : node.text;
    const Written w = written(text.empty() ? "0" : text);
    mpz_class period, places;
    mpz_ui_pow_ui(period.get_mpz_t(), 10, node.repeating.size());
    mpz_ui_pow_ui(places.get_mpz_t(), 10, w.decimals);
    mpq_class tail(mpz_class(node.repeating, 10), mpz_class((period - 1) * places));
    tail.canonicalize();
    const mpq_class whole = w.mantissa + tail;
    check_size(whole);
    return field_.number(whole);
  }
  const Written w = written(node.text);
  check_size(w.mantissa);
  if (w.exponent == 0) return field_.number(w.mantissa);
  return field_.multiply(field_.number(w.mantissa), field_.power(field_.number(10), field_.number(w.exponent)));
}

Scalar Evaluation::sum(const Node& node) {
  if (node.child.size() == 1) {
    Scalar value = scalar(node.child[0]);
    const char sign = node.text[0];
    const bool negative = sign == '-' || (sign == 'p' && !upper_sign_) || (sign == 'm' && upper_sign_);
    return negative ? field_.multiply(value, field_.number(-1)) : value;
  }
  Scalar total = field_.number(0);
  for (std::size_t i = 0; i < node.child.size(); ++i) {
    const char sign = node.text[i];
    const bool negative = sign == '-' || (sign == 'p' && !upper_sign_) || (sign == 'm' && upper_sign_);
    total = field_.add(total, finite(node.child[i]), negative ? -1 : 1);
  }
  return total;
}

Scalar Evaluation::product(const Node& node) {
  Scalar total = finite(node.child[0]);
  for (std::size_t i = 1; i < node.child.size(); ++i) {
    const Scalar factor = finite(node.child[i]);
    total = node.text[i] == '*' ? field_.multiply(total, factor) : field_.divide(total, factor);
  }
  return total;
}

Scalar Evaluation::function(const Node& node) {
  const std::string& name = node.text;
  if (name.starts_with("of ") && node.child[0].kind == NodeKind::ordered) {
    std::string atom = 'f' + name + '(';
    for (const Node& argument : node.child[0].child) atom += field_.text(finite(argument)) + ';';
    return field_.atom(atom + ')');
  }
  const Scalar argument = finite(node.child[0]);
  if (name == "sqrt") return field_.root(argument, node.child.size() > 1 ? finite(node.child[1]) : field_.number(2));
  if (name == "binom") return field_.binomial(argument, finite(node.child[1]));
  if (name == "ln" && node.child.size() == 1) return field_.logarithm(argument);
  if (name == "lg" && node.child.size() == 1)
    return field_.divide(field_.logarithm(argument), field_.logarithm(field_.number(10)));
  if (name == "log") {  // without a base its base is unknown: ten for some, e for others
    const Scalar base = node.child.size() > 1 ? field_.logarithm(finite(node.child[1])) : field_.atom("flog");
    return field_.divide(field_.logarithm(argument), base);
  }
  if (node.child.size() == 1) return field_.function(name, argument);
  return field_.atom('f' + name + '(' + field_.text(argument) + ';' + field_.text(finite(node.child[1])) + ')');
}

std::optional<Value::Cut> Evaluation::cut_of(const Node& node) {
  if (node.kind == NodeKind::sum && node.child.size() == 1 && node.text == "-") {
    auto cut = cut_of(node.child[0]);
    if (cut) cut->value = -cut->value;
    return cut;
  }
  if (node.kind == NodeKind::number && node.repeating.empty()) {
    const Written w = written(node.text);
    if (!w.has_point) return std::nullopt;
    if (std::abs(w.exponent) > 1'000 || w.decimals > 1'000) return std::nullopt;
    const mpq_class scale = whole_power(10, w.exponent);
    return Value::Cut{w.mantissa * scale, whole_power(10, w.exponent - static_cast<long>(w.decimals)), w.significant};
  }
  if (node.kind == NodeKind::product && node.child.size() == 2 && node.text == "**") {  // 1.5 * 10^3
    auto cut = cut_of(node.child[0]);
    const Node& power = node.child[1];
    if (!cut || power.kind != NodeKind::power || power.child[0].kind != NodeKind::number || power.child[0].text != "10")
      return std::nullopt;
    const auto exponent = field_.rational(finite(power.child[1]));
    if (!exponent || exponent->get_den() != 1 || abs(*exponent) > 1'000) return std::nullopt;
    const mpq_class scale = whole_power(10, exponent->get_num().get_si());
    return Value::Cut{cut->value * scale, cut->last_place * scale, cut->digits};
  }
  return std::nullopt;
}

}  // namespace maxplus::math
