#pragma once
// One number or formula: a fraction of two sums, and the operations that the grammar of `math` knows.
//
// Nothing here rounds. What cannot be computed within the limits becomes an atom that is equal to itself only.

#include <optional>
#include <string>
#include <string_view>

#include "verify/math/polynomial.hpp"

namespace maxplus::math {

struct Scalar {
  Polynomial above, below;  // below is not 0
};

class ScalarField {
 public:
  explicit ScalarField(Work& work) : work_(work), ring_(work) {}

  Scalar number(const mpq_class& value) const;
  Scalar atom(const std::string& name) const;

  Scalar add(const Scalar& a, const Scalar& b, const mpq_class& factor);  // a + factor b
  Scalar multiply(const Scalar& a, const Scalar& b);
  Scalar divide(const Scalar& a, const Scalar& b);  // throws for b = 0
  Scalar power(const Scalar& base, const Scalar& exponent);
  Scalar root(const Scalar& radicand, const Scalar& index);
  Scalar logarithm(const Scalar& argument);                        // natural
  Scalar function(std::string_view name, const Scalar& argument);  // sin, abs, …; known values are taken
  Scalar factorial(const Scalar& n);
  Scalar binomial(const Scalar& n, const Scalar& k);

  bool is_zero(const Scalar& a) const { return a.above.empty(); }
  bool equal(const Scalar& a, const Scalar& b);
  // a = c b for a rational number c.
  std::optional<mpq_class> ratio(const Scalar& a, const Scalar& b);
  std::optional<mpq_class> rational(const Scalar& a) const;
  std::string text(const Scalar& a);  // equal texts: equal scalars
  bool has_atom(const Scalar& a, char kind) const;
  PolynomialRing& ring() { return ring_; }

 private:
  Scalar from_sum(Polynomial sum) const { return {std::move(sum), constant(1)}; }
  Scalar simplified(Polynomial above, Polynomial below);
  Scalar rational_power(const Scalar& base, const mpq_class& exponent);
  Scalar whole_power_of(const Scalar& base, const mpz_class& exponent);
  Polynomial number_power(const mpq_class& value, const mpq_class& exponent);  // value > 0
  Scalar symbolic_power(const Scalar& base, const Scalar& exponent);
  std::optional<Scalar> known_sine(const Scalar& angle, const mpq_class& quarter_turns);

  Work& work_;
  PolynomialRing ring_;
};

}  // namespace maxplus::math
