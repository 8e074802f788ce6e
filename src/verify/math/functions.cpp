// Functions of a number or formula: exact values where they are known, otherwise a name with its argument.
#include "verify/math/approximation.hpp"
#include "verify/math/scalar.hpp"

namespace maxplus::math {

namespace {

// k of an argument k pi or k degrees, in half turns; nothing for another argument.
std::optional<mpq_class> half_turns(const Scalar& angle) {
  if (angle.above.empty()) return mpq_class(0);
  if (angle.above.size() != 1 || !is_constant(angle.below)) return std::nullopt;
  const auto& [m, c] = *angle.above.begin();
  if (m.size() != 1 || m.begin()->second != 1) return std::nullopt;
  const std::string& unit = m.begin()->first;
  const mpq_class k = c / constant_of(angle.below);
  if (unit == "sπ") return k;
  if (unit == "s°") return mpq_class(k / 180);
  return std::nullopt;
}

}  // namespace

// sin(angle + quarter_turns pi / 2) for multiples of 30 and 45 degrees.
std::optional<Scalar> ScalarField::known_sine(const Scalar& angle, const mpq_class& quarter_turns) {
  const auto turns = half_turns(angle);
  if (!turns) return std::nullopt;
  mpq_class t = *turns + quarter_turns / 2;  // in half turns; the sine has the period 2
  mpz_class periods;
  const mpq_class half = t / 2;
  mpz_fdiv_q(periods.get_mpz_t(), half.get_num_mpz_t(), half.get_den_mpz_t());
  t -= 2 * periods;
  const int sign = t >= 1 ? -1 : 1;
  if (t >= 1) t -= 1;
  if (t > mpq_class(1, 2)) t = 1 - t;
  const mpq_class place = t * 12;
  if (place.get_den() != 1) return std::nullopt;
  int square = 0;  // sine = sqrt(square) / 2
  switch (place.get_num().get_si()) {
    case 0: square = 0; break;
    case 2: square = 1; break;
    case 3: square = 2; break;
    case 4: square = 3; break;
    case 6: square = 4; break;
    default: return std::nullopt;
  }
  if (square == 0) return number(0);
  return multiply(number(mpq_class(sign, 2)), rational_power(number(square), mpq_class(1, 2)));
}

Scalar ScalarField::logarithm(const Scalar& argument) {
  if (is_zero(argument)) throw Unreadable();
  const Scalar plain = simplified(argument.above, argument.below);
  if (is_constant(plain.below) && plain.above.size() == 1) {
    const auto& [m, c] = *plain.above.begin();
    bool known = c > 0;
    for (const auto& [name, exponent] : m) known = known && (name[0] == 'a' || name == "se" || name == "sπ");
    if (known) {
      Scalar sum = number(0);
      for (const bool above : {true, false}) {
        for (const auto& [base, count] : factors(above ? c.get_num() : c.get_den(), work_))
          sum = add(sum, atom("fln(" + base.get_str() + ')'), above ? mpq_class(count) : mpq_class(-mpq_class(count)));
      }
      for (const auto& [name, exponent] : m)
        sum = add(sum, name == "se" ? number(1) : atom("fln(" + name.substr(name[0] == 'a' ? 1 : 0) + ')'), exponent);
      return sum;
    }
  }
  return atom("fln(" + text(plain) + ')');
}

Scalar ScalarField::function(std::string_view name, const Scalar& argument) {
  const auto value = rational(argument);
  if (name == "abs") {
    if (value) return number(abs(*value));
    if (const auto sign = sign_of(argument, work_)) return *sign < 0 ? multiply(number(-1), argument) : argument;
    const bool negative = argument.above.begin()->second * argument.below.begin()->second < 0;
    return atom("fabs(" + text(negative ? multiply(number(-1), argument) : argument) + ')');
  }
  if ((name == "floor" || name == "ceil") && value) {
    mpz_class whole;
    if (name == "floor")
      mpz_fdiv_q(whole.get_mpz_t(), value->get_num_mpz_t(), value->get_den_mpz_t());
    else
      mpz_cdiv_q(whole.get_mpz_t(), value->get_num_mpz_t(), value->get_den_mpz_t());
    return number(mpq_class(whole));
  }
  if (name == "exp") return power(atom("se"), argument);
  if (name == "sin") {
    if (const auto sine = known_sine(argument, 0)) return *sine;
  }
  if (name == "cos") {
    if (const auto cosine = known_sine(argument, 1)) return *cosine;
  }
  if (name == "tan") {
    const auto sine = known_sine(argument, 0), cosine = known_sine(argument, 1);
    if (sine && cosine) return divide(*sine, *cosine);
  }
  return atom("f" + std::string(name) + '(' + text(argument) + ')');
}

Scalar ScalarField::factorial(const Scalar& n) {
  const auto value = rational(n);
  if (!value || value->get_den() != 1 || *value < 0 || *value > kMaxFactorial)
    return atom("ffactorial(" + text(n) + ')');
  mpz_class product;
  mpz_fac_ui(product.get_mpz_t(), value->get_num().get_ui());
  work_.spend(2'000);
  const mpq_class result(product);
  check_size(result);
  return number(result);
}

Scalar ScalarField::binomial(const Scalar& n, const Scalar& k) {
  const auto above = rational(n), below = rational(k);
  if (!above || !below || above->get_den() != 1 || below->get_den() != 1 || *above < 0 || *below < 0 ||
      *above > kMaxFactorial || *below > kMaxFactorial)
    return atom("fbinomial(" + text(n) + ';' + text(k) + ')');
  mpz_class result;
  mpz_bin_uiui(result.get_mpz_t(), above->get_num().get_ui(), below->get_num().get_ui());
  work_.spend(2'000);
  return number(mpq_class(result));
}

}  // namespace maxplus::math
