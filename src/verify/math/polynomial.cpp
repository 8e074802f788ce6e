// Arithmetic of sums of products. Notation: p, q sums, m a product of atoms, c a coefficient.
#include "verify/math/polynomial.hpp"

namespace maxplus::math {

namespace {

constexpr unsigned long kSmallPrimes = 1'000, kMorePrimes = 65'536;

mpz_class floor_of(const mpq_class& q) {
  mpz_class whole;
  mpz_fdiv_q(whole.get_mpz_t(), q.get_num_mpz_t(), q.get_den_mpz_t());
  return whole;
}

// What a root leaves of n: n = base^exponent with the largest exponent.
std::pair<mpz_class, unsigned long> without_power(const mpz_class& n) {
  if (mpz_perfect_power_p(n.get_mpz_t()) == 0) return {n, 1};
  mpz_class base;
  for (unsigned long k = std::min<unsigned long>(mpz_sizeinbase(n.get_mpz_t(), 2), 256); k > 1; --k) {
    if (mpz_root(base.get_mpz_t(), n.get_mpz_t(), k) != 0) return {base, k};
  }
  return {n, 1};
}

// The atom of a number takes part in the coefficient with the whole part of its exponent, if that is small enough.
void take_whole_part(const std::string& atom, mpq_class& exponent, mpq_class& coefficient) {
  const mpz_class whole = floor_of(exponent);
  if (whole == 0) return;
  const mpz_class base(atom.substr(1));
  if (!whole.fits_slong_p()) return;
  const long n = whole.get_si();
  const auto size = static_cast<std::size_t>(n < 0 ? -n : n);
  if (n == std::numeric_limits<long>::min() || size > kMaxBits || size * mpz_sizeinbase(base.get_mpz_t(), 2) > kMaxBits)
    return;
  coefficient *= whole_power(mpq_class(base), n);
  exponent -= whole;
}

}  // namespace

Polynomial constant(const mpq_class& value) {
  Polynomial p;
  if (value != 0) p[Monomial()] = value;
  return p;
}

bool is_constant(const Polynomial& p) { return p.empty() || (p.size() == 1 && p.begin()->first.empty()); }

mpq_class constant_of(const Polynomial& p) { return p.empty() ? mpq_class(0) : p.begin()->second; }

std::size_t bits_of(const mpq_class& value) {
  return std::max(mpz_sizeinbase(value.get_num_mpz_t(), 2), mpz_sizeinbase(value.get_den_mpz_t(), 2));
}

void check_size(const mpq_class& value) {
  if (bits_of(value) > kMaxBits) throw Unreadable();
}

mpq_class whole_power(const mpq_class& value, long exponent) {
  if (exponent == 0) return 1;
  if (value == 0) {
    if (exponent < 0) throw Unreadable();
    return 0;
  }
  const auto n = static_cast<unsigned long>(exponent < 0 ? -exponent : exponent);
  const std::size_t bits = bits_of(value);
  if (bits > 1 && (n > kMaxBits || bits * n > kMaxBits + bits)) throw Unreadable();
  mpz_class above, below;
  mpz_pow_ui(above.get_mpz_t(), value.get_num_mpz_t(), n);
  mpz_pow_ui(below.get_mpz_t(), value.get_den_mpz_t(), n);
  mpq_class result = exponent > 0 ? mpq_class(above, below) : mpq_class(below, above);
  result.canonicalize();
  return result;
}

std::vector<std::pair<mpz_class, unsigned long>> factors(mpz_class n, Work& work) {
  std::vector<std::pair<mpz_class, unsigned long>> found;
  const std::size_t words = mpz_size(n.get_mpz_t());
  work.spend(2'000 + 200 * words * words / 64 + 500 * words);
  const unsigned long limit = words <= 1 ? kMorePrimes : kSmallPrimes;
  mpz_class divisor;
  for (unsigned long d = 2; d < limit && n > 1; d += d == 2 ? 1 : 2) {
    if (words <= 1 && n < d * d) break;
    if (mpz_divisible_ui_p(n.get_mpz_t(), d) == 0) continue;
    divisor = d;
    found.emplace_back(divisor, mpz_remove(n.get_mpz_t(), n.get_mpz_t(), divisor.get_mpz_t()));
  }
  if (n > 1) found.push_back(without_power(n));
  return found;
}

mpq_class content(const Polynomial& p) {
  mpz_class above = 0, below = 1;
  for (const auto& [m, c] : p) {
    mpz_gcd(above.get_mpz_t(), above.get_mpz_t(), c.get_num_mpz_t());
    mpz_lcm(below.get_mpz_t(), below.get_mpz_t(), c.get_den_mpz_t());
    if (mpz_sizeinbase(below.get_mpz_t(), 2) > kMaxBits) throw Unreadable();
  }
  if (above == 0) return 1;
  mpq_class result(above, below);
  result.canonicalize();
  return result;
}

std::string text_of(const Monomial& monomial) {
  std::string text;
  for (const auto& [atom, exponent] : monomial) {
    if (!text.empty()) text += '*';
    text += '{' + atom + "}^" + exponent.get_str();
    if (text.size() > kMaxNameBytes) throw Unreadable();
  }
  return text;
}

std::string text_of(const Polynomial& p, Work& work) {
  std::string text;
  for (const auto& [m, c] : p) {
    text += '+' + c.get_str() + ' ' + text_of(m);
    if (text.size() > kMaxNameBytes) throw Unreadable();
  }
  work.spend(text.size());
  return text.empty() ? "0" : text;
}

void PolynomialRing::add_term(Polynomial& sum, const Monomial& monomial, const mpq_class& coefficient) {
  const std::size_t words = bits_of(coefficient) / 64;
  work_.spend(16 + words * words / 16);
  auto [place, fresh] = sum.try_emplace(monomial, coefficient);
  if (!fresh) place->second += coefficient;
  check_size(place->second);
  if (place->second == 0) sum.erase(place);
  if (sum.size() > kMaxTerms) throw Unreadable();
}

void PolynomialRing::add(Polynomial& sum, const Polynomial& p, const mpq_class& factor) {
  for (const auto& [m, c] : p) add_term(sum, m, c * factor);
}

Polynomial PolynomialRing::multiply(const Polynomial& a, const Polynomial& b) {
  Polynomial product;
  for (const auto& [m, c] : a) {
    for (const auto& [n, d] : b) {
      const std::size_t words = (bits_of(c) + bits_of(d)) / 64;
      work_.spend(16 + 8 * (m.size() + n.size()) + words * words / 16);
      Monomial both = m;
      for (const auto& [atom, exponent] : n) {
        mpq_class& sum = both[atom];
        sum += exponent;
        if (sum == 0) both.erase(atom);
      }
      add(product, reduced(c * d, both), 1);
    }
  }
  return product;
}

Polynomial PolynomialRing::power(const Polynomial& base, unsigned long exponent) {
  Polynomial result = constant(1), square = base;
  for (unsigned long n = exponent; n > 0; n >>= 1) {
    if ((n & 1) != 0) result = multiply(result, square);
    if (n > 1) square = multiply(square, square);
  }
  return result;
}

Polynomial PolynomialRing::reduced(const mpq_class& coefficient, const Monomial& monomial) {
  mpq_class c = coefficient;
  Monomial rest;
  std::vector<std::pair<std::string, unsigned long>> expand;
  for (auto [atom, exponent] : monomial) {
    check_size(exponent);
    if (atom[0] == 'a') {
      take_whole_part(atom, exponent, c);
      check_size(c);
    } else if (atom == "i" && exponent.get_den() == 1) {
      mpz_class turns;
      mpz_fdiv_r_ui(turns.get_mpz_t(), exponent.get_num_mpz_t(), 4);
      if (turns >= 2) c = -c;
      exponent = mpz_odd_p(turns.get_mpz_t()) != 0 ? 1 : 0;
    } else if (atom[0] == 'r' && exponent >= 1 && exponent < kMaxExpanded + 1) {
      const mpz_class whole = floor_of(exponent);
      expand.emplace_back(atom, whole.get_ui());
      exponent -= whole;
    }
    if (exponent != 0) rest[atom] = exponent;
  }
  Polynomial product;
  if (c != 0) product[rest] = c;
  for (const auto& [atom, exponent] : expand) product = multiply(product, power(radicand_.at(atom), exponent));
  return product;
}

std::string PolynomialRing::root_atom(const Polynomial& p) {
  std::string atom = "r" + text_of(p, work_);
  radicand_.emplace(atom, p);
  return atom;
}

}  // namespace maxplus::math
