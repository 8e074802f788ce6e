#pragma once
// Sums of products with rational coefficients: the numbers and formulas that can be compared term by term.
//
// An atom is a name whose first letter tells its kind:
//   a2     the number 2 (a prime, or what is left of a number that was not taken apart), with an exponent in [0, 1)
//   i      the imaginary unit, i i = -1
//   sx     a symbol; sπ, se and s° are constants, s∞ is guarded by the evaluation
//   rP     the sum P under a root: its whole powers are multiplied out
//   wB^M   the atom B to the power of the product M
//   f...   a function of an argument in normal form, known by nothing but its text
// Different products of atoms count as different, so a sum is 0 only if it is 0 whatever the atoms stand for.

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gmpxx.h>

#include "verify/math/limits.hpp"

namespace maxplus::math {

using Monomial = std::map<std::string, mpq_class>;  // atom, exponent (not 0)
using Polynomial = std::map<Monomial, mpq_class>;   // product, coefficient (not 0)

Polynomial constant(const mpq_class& value);
bool is_constant(const Polynomial& p);       // without atoms
mpq_class constant_of(const Polynomial& p);  // precondition: is_constant

std::size_t bits_of(const mpq_class& value);
void check_size(const mpq_class& value);  // throws beyond kMaxBits

// value^exponent; throws beyond kMaxBits.
mpq_class whole_power(const mpq_class& value, long exponent);

// n > 0 as a product of powers: primes below 1000 (below 65536 for n < 2^63), and what is left as one base.
std::vector<std::pair<mpz_class, unsigned long>> factors(mpz_class n, Work& work);

// Positive numbers of which all coefficients are whole multiples, without a common factor.
mpq_class content(const Polynomial& p);

std::string text_of(const Monomial& monomial);
std::string text_of(const Polynomial& p, Work& work);  // equal texts: equal sums

class PolynomialRing {
 public:
  explicit PolynomialRing(Work& work) : work_(work) {}

  void add(Polynomial& sum, const Polynomial& p, const mpq_class& factor);
  Polynomial multiply(const Polynomial& a, const Polynomial& b);
  Polynomial power(const Polynomial& base, unsigned long exponent);
  // coefficient * monomial with all that the kinds of its atoms allow carried out.
  Polynomial reduced(const mpq_class& coefficient, const Monomial& monomial);
  // The atom of p under a root, content 1.
  std::string root_atom(const Polynomial& p);
  Work& work() { return work_; }

 private:
  void add_term(Polynomial& sum, const Monomial& monomial, const mpq_class& coefficient);
  Work& work_;
  std::map<std::string, Polynomial> radicand_;
};

}  // namespace maxplus::math
