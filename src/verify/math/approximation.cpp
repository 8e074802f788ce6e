// Interval arithmetic in rational numbers. Every bound is rounded outwards to a fixed number of binary places.
#include "verify/math/approximation.hpp"

#include <algorithm>

namespace maxplus::math {

namespace {

constexpr unsigned long kPlaces = 512;  // binary places of a root
constexpr unsigned long kMaxRoot = 64;
constexpr long kMaxWhole = 16;                  // exponent of pi
constexpr std::size_t kMaxCoefficient = 2'048;  // bits

// 3.14159… by Machin's formula, pi = 16 arctan(1/5) - 4 arctan(1/239), as pi * 2^kPlaces within kPiError.
constexpr long kPiError = 4'096;

mpz_class scaled_arctan_of_inverse(long x) {
  mpz_class one = 1, term, sum = 0;
  one <<= kPlaces;
  term = one / x;
  for (long n = 1; term != 0; n += 2) {
    if (n % 4 == 1)
      sum += term / n;
    else
      sum -= term / n;
    term /= x * x;
  }
  return sum;
}

Bounds bounds_of_pi() {
  const mpz_class scaled = 16 * scaled_arctan_of_inverse(5) - 4 * scaled_arctan_of_inverse(239);
  mpz_class one = 1;
  one <<= kPlaces;
  Bounds pi{mpq_class(scaled - kPiError, one), mpq_class(scaled + kPiError, one)};
  pi.low.canonicalize();
  pi.high.canonicalize();
  return pi;
}

Bounds product(const Bounds& a, const Bounds& b) {
  const mpq_class all[] = {a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high};
  return {*std::min_element(std::begin(all), std::end(all)), *std::max_element(std::begin(all), std::end(all))};
}

// base^(exponent) for 0 < exponent < 1.
std::optional<Bounds> root_bounds(const mpz_class& base, const mpq_class& exponent) {
  if (exponent <= 0 || exponent >= 1 || exponent.get_den() > kMaxRoot) return std::nullopt;
  const unsigned long p = exponent.get_num().get_ui(), q = exponent.get_den().get_ui();
  if (mpz_sizeinbase(base.get_mpz_t(), 2) * p > kMaxCoefficient) return std::nullopt;
  mpz_class inside, root, one = 1;
  mpz_pow_ui(inside.get_mpz_t(), base.get_mpz_t(), p);
  inside <<= kPlaces * q;
  mpz_root(root.get_mpz_t(), inside.get_mpz_t(), q);
  one <<= kPlaces;
  Bounds bounds{mpq_class(root, one), mpq_class(root + 1, one)};
  bounds.low.canonicalize();
  bounds.high.canonicalize();
  return bounds;
}

std::optional<Bounds> atom_bounds(const std::string& atom, const mpq_class& exponent) {
  if (atom[0] == 'a') return root_bounds(mpz_class(atom.substr(1)), exponent);
  if (atom != "sπ" || exponent.get_den() != 1 || abs(exponent) > kMaxWhole) return std::nullopt;
  Bounds pi = bounds_of_pi();
  if (exponent < 0) pi = {1 / pi.high, 1 / pi.low};
  const long times = mpz_class(abs(exponent.get_num())).get_si();
  return Bounds{whole_power(pi.low, times), whole_power(pi.high, times)};
}

std::optional<Bounds> sum_bounds(const Polynomial& p, Work& work) {
  Bounds sum{0, 0};
  if (p.size() > 16) return std::nullopt;
  for (const auto& [m, c] : p) {
    if (m.size() > 4 || bits_of(c) > kMaxCoefficient) return std::nullopt;
    Bounds term{c, c};
    for (const auto& [atom, exponent] : m) {
      work.spend(5'000);
      const auto factor = atom_bounds(atom, exponent);
      if (!factor) return std::nullopt;
      term = product(term, *factor);
    }
    sum.low += term.low;
    sum.high += term.high;
  }
  return sum;
}

}  // namespace

std::optional<Bounds> bounds_of(const Scalar& value, Work& work) {
  const auto above = sum_bounds(value.above, work), below = sum_bounds(value.below, work);
  if (!above || !below || (below->low <= 0 && below->high >= 0)) return std::nullopt;
  return product(*above, {1 / below->high, 1 / below->low});
}

std::optional<int> sign_of(const Scalar& value, Work& work) {
  if (value.above.empty()) return 0;
  const auto bounds = bounds_of(value, work);
  if (!bounds) return std::nullopt;
  if (bounds->low > 0) return 1;
  if (bounds->high < 0) return -1;
  return std::nullopt;
}

}  // namespace maxplus::math
