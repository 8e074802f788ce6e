// Fractions of sums: field operations, powers with rational exponents, comparison.
#include "verify/math/scalar.hpp"

namespace maxplus::math {

namespace {

bool is_single(const Polynomial& p) { return p.size() == 1; }

// A product of numbers, pi and e only: positive if its coefficient is.
bool is_positive_kind(const Monomial& m) {
  for (const auto& [atom, exponent] : m) {
    if (atom[0] != 'a' && atom != "sπ" && atom != "se") return false;
  }
  return true;
}

Monomial raised(const Monomial& m, const mpq_class& exponent) {
  Monomial result;
  for (const auto& [atom, e] : m) {
    const mpq_class product = e * exponent;
    check_size(product);
    result[atom] = product;
  }
  return result;
}

}  // namespace

Scalar ScalarField::number(const mpq_class& value) const { return from_sum(constant(value)); }

Scalar ScalarField::atom(const std::string& name) const {
  return from_sum(Polynomial{{Monomial{{name, mpq_class(1)}}, mpq_class(1)}});
}

// A denominator of one product goes into the numerator, but for sums under a root, whose whole powers are multiplied
// out.
Scalar ScalarField::simplified(Polynomial above, Polynomial below) {
  if (below.empty()) throw Unreadable();
  if (above.empty()) return number(0);
  if (!is_single(below)) return {std::move(above), std::move(below)};
  const auto& [m, c] = *below.begin();
  Monomial inverse, kept;
  for (const auto& [atom, exponent] : m) {
    if (atom[0] == 'r')
      kept[atom] = exponent;
    else
      inverse[atom] = -exponent;
  }
  return {ring_.multiply(above, ring_.reduced(1 / c, inverse)), Polynomial{{kept, mpq_class(1)}}};
}

Scalar ScalarField::add(const Scalar& a, const Scalar& b, const mpq_class& factor) {
  Polynomial sum;
  if (a.below == b.below) {
    ring_.add(sum, a.above, 1);
    ring_.add(sum, b.above, factor);
    return simplified(std::move(sum), a.below);
  }
  ring_.add(sum, ring_.multiply(a.above, b.below), 1);
  ring_.add(sum, ring_.multiply(b.above, a.below), factor);
  return simplified(std::move(sum), ring_.multiply(a.below, b.below));
}

Scalar ScalarField::multiply(const Scalar& a, const Scalar& b) {
  return simplified(ring_.multiply(a.above, b.above), ring_.multiply(a.below, b.below));
}

Scalar ScalarField::divide(const Scalar& a, const Scalar& b) {
  if (is_zero(b)) throw Unreadable();
  return simplified(ring_.multiply(a.above, b.below), ring_.multiply(a.below, b.above));
}

std::optional<mpq_class> ScalarField::rational(const Scalar& a) const {
  if (!is_constant(a.above) || !is_constant(a.below)) return std::nullopt;
  return mpq_class(constant_of(a.above) / constant_of(a.below));
}

bool ScalarField::equal(const Scalar& a, const Scalar& b) {
  if (a.below == b.below) return a.above == b.above;
  return ring_.multiply(a.above, b.below) == ring_.multiply(b.above, a.below);
}

std::optional<mpq_class> ScalarField::ratio(const Scalar& a, const Scalar& b) {
  const Polynomial left = ring_.multiply(a.above, b.below), right = ring_.multiply(b.above, a.below);
  if (left.empty() || left.size() != right.size()) return std::nullopt;
  const mpq_class factor = left.begin()->second / right.begin()->second;
  for (auto l = left.begin(), r = right.begin(); l != left.end(); ++l, ++r) {
    if (l->first != r->first || l->second != r->second * factor) return std::nullopt;
  }
  return factor;
}

std::string ScalarField::text(const Scalar& a) {
  if (is_constant(a.below)) return text_of(simplified(a.above, a.below).above, work_);
  const mpq_class scale = 1 / a.below.begin()->second;
  Polynomial above, below;
  ring_.add(above, a.above, scale);
  ring_.add(below, a.below, scale);
  return text_of(above, work_) + '|' + text_of(below, work_);
}

bool ScalarField::has_atom(const Scalar& a, char kind) const {
  for (const Polynomial* p : {&a.above, &a.below}) {
    for (const auto& [m, c] : *p) {
      for (const auto& [atom, exponent] : m) {
        if (atom[0] == kind) return true;
      }
    }
  }
  return false;
}

// value^exponent with the primes of value as atoms.
Polynomial ScalarField::number_power(const mpq_class& value, const mpq_class& exponent) {
  Monomial m;
  for (const bool above : {true, false}) {
    for (const auto& [base, count] : factors(above ? value.get_num() : value.get_den(), work_)) {
      mpq_class& e = m["a" + base.get_str()];
      e += (above ? exponent : mpq_class(-exponent)) * count;
      if (e == 0) m.erase("a" + base.get_str());
    }
  }
  return ring_.reduced(1, m);
}

Scalar ScalarField::whole_power_of(const Scalar& base, const mpz_class& exponent) {
  if (is_zero(base)) {
    if (exponent <= 0) throw Unreadable();  // 0^0 among them
    return number(0);
  }
  if (exponent < 0) return whole_power_of(divide(number(1), base), -exponent);
  const bool small = exponent <= kMaxExpanded;
  const auto raise = [&](const Polynomial& p) -> std::optional<Polynomial> {
    if (!is_single(p)) return small ? std::optional(ring_.power(p, exponent.get_ui())) : std::nullopt;
    const auto& [m, c] = *p.begin();
    const mpq_class size = abs(c), sign = c < 0 && mpz_odd_p(exponent.get_mpz_t()) != 0 ? -1 : 1;
    const Polynomial atoms = ring_.reduced(sign, raised(m, exponent));
    if (size == 1) return atoms;
    if (exponent.fits_ulong_p() && exponent <= mpz_class(kMaxBits) && bits_of(size) * exponent.get_ui() <= kMaxBits)
      return ring_.multiply(atoms, constant(whole_power(size, exponent.get_si())));
    return ring_.multiply(atoms, number_power(size, exponent));
  };
  auto above = raise(base.above), below = raise(base.below);
  if (above && below) return simplified(std::move(*above), std::move(*below));
  return atom("fpower(" + text(base) + ';' + exponent.get_str() + ')');
}

Scalar ScalarField::rational_power(const Scalar& base, const mpq_class& exponent) {
  check_size(exponent);
  if (exponent.get_den() == 1) return whole_power_of(base, exponent.get_num());
  if (is_zero(base)) {
    if (exponent < 0) throw Unreadable();
    return number(0);
  }
  const Scalar plain = simplified(base.above, base.below);
  if (is_constant(plain.below)) {
    const Polynomial& p = plain.above;
    const auto& [m, c] = *p.begin();
    if (is_single(p) && c > 0 && is_positive_kind(m))
      return from_sum(ring_.multiply(number_power(c, exponent), ring_.reduced(1, raised(m, exponent))));
    if (is_single(p) && c < 0 && is_positive_kind(m) && exponent == mpq_class(1, 2))
      return multiply(rational_power(multiply(plain, number(-1)), exponent), atom("i"));
    const mpq_class size = content(p);
    Polynomial rest;
    ring_.add(rest, p, 1 / size);
    const bool one_symbol = is_single(rest) && rest.begin()->second == 1 && rest.begin()->first.size() == 1 &&
                            rest.begin()->first.begin()->second == 1;
    const std::string name = one_symbol ? rest.begin()->first.begin()->first : ring_.root_atom(rest);
    const Scalar factor = from_sum(number_power(size, exponent));
    const mpq_class positive = abs(exponent);
    const Scalar rooted = from_sum(ring_.reduced(1, Monomial{{name, positive}}));
    return exponent > 0 ? multiply(factor, rooted) : divide(factor, rooted);
  }
  return atom("fpower(" + text(plain) + ';' + exponent.get_str() + ')');
}

Scalar ScalarField::power(const Scalar& base, const Scalar& exponent) {
  if (const auto e = rational(exponent)) {
    if (e->get_den() != 1 && e->get_den() % 2 != 0 && !is_zero(base)) {
      // (-8)^{1/3} is read in two ways; it stays what it is.
      const auto b = rational(base);
      if (b && *b < 0) return atom("fpower(" + text(base) + ';' + e->get_str() + ')');
    }
    return rational_power(base, *e);
  }
  return symbolic_power(base, exponent);
}

// base^(c + k M + …) = base^c (base^M)^k …, where base is a positive number or one symbol.
Scalar ScalarField::symbolic_power(const Scalar& base, const Scalar& exponent) {
  const Scalar plain = simplified(base.above, base.below), powers = simplified(exponent.above, exponent.below);
  const auto opaque = [&] { return atom("fpower(" + text(plain) + ';' + text(powers) + ')'); };
  if (!is_constant(powers.below) || !is_constant(plain.below) || !is_single(plain.above)) return opaque();
  const auto& [m, c] = *plain.above.begin();
  if (c <= 0 || !(is_positive_kind(m) || (c == 1 && m.size() == 1 && m.begin()->second == 1))) return opaque();
  Monomial bases = m;
  if (c != 1) {
    for (const bool above : {true, false}) {
      for (const auto& [prime, count] : factors(above ? c.get_num() : c.get_den(), work_))
        bases["a" + prime.get_str()] += above ? mpq_class(count) : mpq_class(-mpq_class(count));
    }
  }
  Scalar product = number(1);
  for (const auto& [term, k] : powers.above) {
    if (term.empty()) {
      product = multiply(product, rational_power(plain, k));
      continue;
    }
    Monomial atoms;
    for (const auto& [atom, count] : bases) {
      const mpq_class e = count * k;
      if (e != 0) atoms["w" + atom + '^' + text_of(term)] = e;
    }
    product = multiply(product, from_sum(ring_.reduced(1, atoms)));
  }
  return product;
}

Scalar ScalarField::root(const Scalar& radicand, const Scalar& index) {
  const auto n = rational(index);
  if (!n || *n <= 0 || n->get_den() != 1) return power(radicand, divide(number(1), index));
  const auto value = rational(radicand);
  if (value && *value < 0 && n->get_num() % 2 != 0)  // the real root
    return multiply(number(-1), rational_power(number(-*value), 1 / *n));
  return rational_power(radicand, 1 / *n);
}

}  // namespace maxplus::math
