// exp, log, pow, sin and cos against the C library, which is good to about half a unit.
#include "base/exact_math.hpp"

#include <cmath>
#include <cstring>
#include <limits>

#include <gtest/gtest.h>

#include "base/random.hpp"

namespace maxplus {
namespace {

constexpr double kRelative = 1e-15;     // what the header promises, "about"
constexpr double kPowRelative = 1e-13;  // the error of y log x, up to 40 here, becomes one of the result
constexpr double kAbsolute = 4e-16;     // of sin and cos, which cross zero
constexpr double kInfinity = std::numeric_limits<double>::infinity();

double draw(std::uint64_t i, double low, double high) { return low + (high - low) * uniform_double(3, Purpose::test, i, 0); }

TEST(ExactMath, ExpFollowsTheLibrary) {
  for (std::uint64_t i = 0; i < 20000; ++i) {
    const double x = i < 10000 ? draw(i, -700.0, 700.0) : draw(i, -2.0, 2.0);
    ASSERT_NEAR(exact_exp(x), std::exp(x), kRelative * std::exp(x)) << x;
  }
  EXPECT_EQ(exact_exp(0.0), 1.0);
  EXPECT_EQ(exact_exp(-746.0), 0.0);
  EXPECT_EQ(exact_exp(-kInfinity), 0.0);
  EXPECT_EQ(exact_exp(710.0), kInfinity);
  EXPECT_TRUE(std::isnan(exact_exp(std::nan(""))));
}

TEST(ExactMath, LogFollowsTheLibrary) {
  for (std::uint64_t i = 0; i < 20000; ++i) {
    const double x = i < 10000 ? std::exp(draw(i, -700.0, 700.0)) : draw(i, 0.5, 2.0);
    ASSERT_NEAR(exact_log(x), std::log(x), kRelative * std::fabs(std::log(x)) + 1e-16) << x;
  }
  EXPECT_EQ(exact_log(1.0), 0.0);
  EXPECT_EQ(exact_log(0.0), -kInfinity);
  EXPECT_EQ(exact_log(kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(exact_log(-1.0)));
}

TEST(ExactMath, PowFollowsTheLibrary) {
  for (std::uint64_t i = 0; i < 5000; ++i) {
    const double x = draw(i, 0.01, 50.0), y = draw(i + 100000, -10.0, 10.0);
    ASSERT_NEAR(exact_pow(x, y), std::pow(x, y), kPowRelative * std::pow(x, y)) << x << " " << y;
  }
  EXPECT_EQ(exact_pow(10000.0, 0.0), 1.0);
}

TEST(ExactMath, SinAndCosFollowTheLibrary) {
  for (std::uint64_t i = 0; i < 20000; ++i) {
    const double x = i < 10000 ? draw(i, -8.0, 8.0) : draw(i, -1e6, 1e6);
    // far out the reduced argument carries an error that grows with the number of quarter turns
    const double allowed = kAbsolute + std::fabs(x) * 1e-20;
    ASSERT_NEAR(exact_sin(x), std::sin(x), allowed) << x;
    ASSERT_NEAR(exact_cos(x), std::cos(x), allowed) << x;
  }
  EXPECT_EQ(exact_sin(0.0), 0.0);
  EXPECT_EQ(exact_cos(0.0), 1.0);
}

}  // namespace
}  // namespace maxplus
