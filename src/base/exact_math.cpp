#include "base/exact_math.hpp"

#include <cstdint>
#include <cstring>
#include <limits>

namespace maxplus {

namespace {

constexpr double kLn2High = 6.93147180369123816490e-01;  // 32 significant bits of ln 2, so that k * high is exact
constexpr double kLn2Low = 1.90821492927058770002e-10;
constexpr double kInvLn2 = 1.44269504088896338700;
// pi / 2 in three parts of about 33 bits each
constexpr double kHalfPi1 = 1.57079632673412561417e+00;
constexpr double kHalfPi2 = 6.07710050630396597660e-11;
constexpr double kHalfPi3 = 2.02226624879595063154e-21;
constexpr double kTwoOverPi = 6.36619772367581382433e-01;

double scale_by_power_of_two(double x, int k) {
  // in two halves, so that subnormal results and the largest exponent are reached without overflow on the way
  const auto power = [](int e) {
    const std::uint64_t bits = static_cast<std::uint64_t>(e + 1023) << 52;
    double value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  };
  const int half = k / 2;
  return x * power(half) * power(k - half);
}

double round_to_nearest(double x) { return (x + 6755399441055744.0) - 6755399441055744.0; }  // 1.5 * 2^52

// sin and cos on [-pi/4, pi/4] by their Taylor sums (the next term is below 1e-17 there)
double sin_kernel(double r) {
  const double z = r * r;
  double sum = -7.6471637318198164759e-13;  // -1/15!
  sum = sum * z + 1.6059043836821614599e-10;
  sum = sum * z - 2.5052108385441718775e-08;
  sum = sum * z + 2.7557319223985890653e-06;
  sum = sum * z - 1.9841269841269841270e-04;
  sum = sum * z + 8.3333333333333333333e-03;
  sum = sum * z - 1.6666666666666666667e-01;
  return r + r * z * sum;
}

double cos_kernel(double r) {
  const double z = r * r;
  double sum = 4.7794773323873852974e-14;  // 1/16!
  sum = sum * z - 1.1470745597729724714e-11;
  sum = sum * z + 2.0876756987868098979e-09;
  sum = sum * z - 2.7557319223985890653e-07;
  sum = sum * z + 2.4801587301587301587e-05;
  sum = sum * z - 1.3888888888888888889e-03;
  sum = sum * z + 4.1666666666666666667e-02;
  sum = sum * z - 0.5;
  return 1.0 + z * sum;
}

// x = quadrant * pi/2 + the value returned
double reduce(double x, int* quadrant) {
  const double n = round_to_nearest(x * kTwoOverPi);
  *quadrant = static_cast<int>(static_cast<std::int64_t>(n) & 3);
  return ((x - n * kHalfPi1) - n * kHalfPi2) - n * kHalfPi3;
}

}  // namespace

double exact_exp(double x) {
  if (x != x) return x;
  if (x > 709.782712893383973096) return std::numeric_limits<double>::infinity();
  if (x < -745.2) return 0.0;
  const double k = round_to_nearest(x * kInvLn2);
  const double r = (x - k * kLn2High) - k * kLn2Low;
  double sum = 1.6059043836821614599e-10;  // 1/13!
  sum = sum * r + 2.0876756987868098979e-09;
  sum = sum * r + 2.5052108385441718775e-08;
  sum = sum * r + 2.7557319223985890653e-07;
  sum = sum * r + 2.7557319223985890653e-06;
  sum = sum * r + 2.4801587301587301587e-05;
  sum = sum * r + 1.9841269841269841270e-04;
  sum = sum * r + 1.3888888888888888889e-03;
  sum = sum * r + 8.3333333333333333333e-03;
  sum = sum * r + 4.1666666666666666667e-02;
  sum = sum * r + 1.6666666666666666667e-01;
  sum = sum * r + 0.5;
  const double value = 1.0 + (r + r * r * sum);
  return scale_by_power_of_two(value, static_cast<int>(k));
}

double exact_log(double x) {
  if (x != x || x < 0) return std::numeric_limits<double>::quiet_NaN();
  if (x == 0) return -std::numeric_limits<double>::infinity();
  if (x == std::numeric_limits<double>::infinity()) return x;
  int exponent = 0;
  if (x < 2.2250738585072014e-308) {
    x *= 18014398509481984.0;  // 2^54
    exponent = -54;
  }
  std::uint64_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  exponent += static_cast<int>(bits >> 52) - 1023;
  bits = (bits & 0x000fffffffffffffULL) | 0x3ff0000000000000ULL;
  double m;
  std::memcpy(&m, &bits, sizeof m);
  if (m > 1.41421356237309504880) {
    m *= 0.5;
    ++exponent;
  }
  // log m = 2 artanh(s), s = (m - 1)/(m + 1), |s| < 0.1716
  const double s = (m - 1.0) / (m + 1.0);
  const double z = s * s;
  double sum = 1.0 / 23.0;
  sum = sum * z + 1.0 / 21.0;
  sum = sum * z + 1.0 / 19.0;
  sum = sum * z + 1.0 / 17.0;
  sum = sum * z + 1.0 / 15.0;
  sum = sum * z + 1.0 / 13.0;
  sum = sum * z + 1.0 / 11.0;
  sum = sum * z + 1.0 / 9.0;
  sum = sum * z + 1.0 / 7.0;
  sum = sum * z + 1.0 / 5.0;
  sum = sum * z + 1.0 / 3.0;
  const double log_m = 2.0 * s + 2.0 * s * z * sum;
  const double k = exponent;
  return k * kLn2High + (log_m + k * kLn2Low);
}

double exact_pow(double x, double y) { return exact_exp(y * exact_log(x)); }

double exact_sin(double x) {
  int quadrant;
  const double r = reduce(x, &quadrant);
  const double value = (quadrant & 1) ? cos_kernel(r) : sin_kernel(r);
  return (quadrant & 2) ? -value : value;
}

double exact_cos(double x) {
  int quadrant;
  const double r = reduce(x, &quadrant);
  const double value = (quadrant & 1) ? sin_kernel(r) : cos_kernel(r);
  return ((quadrant + 1) & 2) ? -value : value;
}

}  // namespace maxplus
