// The sixteen lanes: what each operation gives, and that every instruction set gives the same bits.
#include "kokkos/simd/lanes_table.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.hpp"
#include "kokkos/kernel_table.hpp"
#include "reference/matmul.hpp"
#include "reference/random_values.hpp"

namespace maxplus {
namespace {

using host::LanesTable;
using Sixteen = std::array<float, 16>;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr double kExpError = 2.0;  // ulp
constexpr double kLogError = 0.51; // ulp: rounded once from double
constexpr double kTanhError = 4.0; // ulp

std::vector<const LanesTable*> tables() {
  std::vector<const LanesTable*> found;
  const host::InstructionSet before = host::instruction_set_in_use();
  for (int set = 0; set <= static_cast<int>(host::best_instruction_set()); ++set) {
    host::use_instruction_set(static_cast<host::InstructionSet>(set));
    found.push_back(&MAXPLUS_TABLE(lanes_table));
  }
  host::use_instruction_set(before);
  return found;
}

std::uint32_t bits(float x) {
  std::uint32_t b;
  std::memcpy(&b, &x, sizeof b);
  return b;
}

float from_bits(std::uint32_t b) {
  float x;
  std::memcpy(&x, &b, sizeof x);
  return x;
}

Sixteen sixteen(std::uint64_t seed) {
  Sixteen values;
  for (std::size_t l = 0; l < 16; ++l) values[l] = 4.0f * uniform(seed, Purpose::test, l, 1) - 2.0f;
  return values;
}

double ulp(double exact) { return std::ldexp(1.0, std::max(std::ilogb(exact), -126) - 23); }

// Numbers all over the range, with the borders of exp.
std::vector<float> many_numbers() {
  std::vector<float> numbers = {0.0f, -0.0f, 1.0f, -1.0f, 88.72283f, 88.7229f, 89.0f, -87.3365f, -87.337f, -88.0f, -104.0f, -1e30f,
                                1e30f, kInfinity, -kInfinity, kNaN, 0.34657f, -0.34658f, 1e-20f};
  for (std::uint64_t i = 0; i < 20000; ++i) numbers.push_back(200.0f * uniform(7, Purpose::test, i, 0) - 100.0f);
  while (numbers.size() % 16 != 0) numbers.push_back(0.5f);
  return numbers;
}

TEST(Lanes, PartsReadAndWriteNothingBehindTheirCount) {
  for (const LanesTable* table : tables()) {
    for (int count = 0; count <= 16; ++count) {
      std::vector<float> in(static_cast<std::size_t>(count), 3.0f);  // exactly so long: a sanitizer sees reads behind it
      Sixteen out;
      out.fill(kNaN);
      table->load_masked(out.data(), in.data(), count, -7.0f);
      for (int l = 0; l < 16; ++l) ASSERT_EQ(out[static_cast<std::size_t>(l)], l < count ? 3.0f : -7.0f);
      Sixteen stored;
      stored.fill(9.0f);
      const Sixteen values = sixteen(1);
      table->store_masked(stored.data(), values.data(), count);
      for (std::size_t l = 0; l < 16; ++l) ASSERT_EQ(stored[l], static_cast<int>(l) < count ? values[l] : 9.0f);
      const Sixteen others = sixteen(2);
      table->select(out.data(), count, values.data(), others.data());
      for (std::size_t l = 0; l < 16; ++l) ASSERT_EQ(out[l], static_cast<int>(l) < count ? values[l] : others[l]);
    }
  }
}

TEST(Lanes, ArithmeticIsCorrectlyRounded) {
  const Sixteen a = sixteen(3), b = sixteen(4), c = sixteen(5);
  for (const LanesTable* table : tables()) {
    const auto expect = [&](auto operation, auto scalar) {
      Sixteen out;
      out.fill(kNaN);
      operation(out.data());
      for (std::size_t l = 0; l < 16; ++l) ASSERT_EQ(bits(out[l]), bits(scalar(l)));
    };
    expect([&](float* out) { table->add(out, a.data(), b.data()); }, [&](std::size_t l) { return a[l] + b[l]; });
    expect([&](float* out) { table->subtract(out, a.data(), b.data()); }, [&](std::size_t l) { return a[l] - b[l]; });
    expect([&](float* out) { table->multiply(out, a.data(), b.data()); }, [&](std::size_t l) { return a[l] * b[l]; });
    expect([&](float* out) { table->divide(out, a.data(), b.data()); }, [&](std::size_t l) { return a[l] / b[l]; });
    expect([&](float* out) { table->fma(out, a.data(), b.data(), c.data()); },
           [&](std::size_t l) { return std::fma(a[l], b[l], c[l]); });
    expect([&](float* out) { table->max(out, a.data(), b.data()); }, [&](std::size_t l) { return a[l] > b[l] ? a[l] : b[l]; });
    expect([&](float* out) { table->min(out, a.data(), b.data()); }, [&](std::size_t l) { return a[l] < b[l] ? a[l] : b[l]; });
    Sixteen positive = a;
    for (float& x : positive) x = std::fabs(x);
    expect([&](float* out) { table->sqrt(out, positive.data()); }, [&](std::size_t l) { return std::sqrt(positive[l]); });
  }
}

TEST(Lanes, SumsAndMaximaFollowTheFixedTree) {
  for (std::uint64_t seed = 10; seed < 40; ++seed) {
    Sixteen tree = sixteen(seed);
    const Sixteen values = tree;
    for (std::size_t half : {8, 4, 2, 1}) {
      for (std::size_t l = 0; l < half; ++l) tree[l] = tree[l] + tree[l + half];
    }
    for (const LanesTable* table : tables()) {
      EXPECT_EQ(bits(table->sum(values.data())), bits(tree[0]));
      EXPECT_EQ(table->max_lane(values.data()), *std::max_element(values.begin(), values.end()));
    }
  }
}

TEST(Lanes, ExpIsGoodToTwoUlpAndTheSameInAllSets) {
  const std::vector<float> numbers = many_numbers();
  const std::vector<const LanesTable*> all = tables();
  double worst = 0.0;
  for (std::size_t i = 0; i < numbers.size(); i += 16) {
    Sixteen first;
    all.front()->exp(first.data(), numbers.data() + i);
    for (std::size_t l = 0; l < 16; ++l) {
      const float x = numbers[i + l];
      ASSERT_EQ(bits(first[l]), bits(all.front()->exp1(x))) << x;
      if (std::fabs(x) < 87.0f) {
        const double exact = std::exp(static_cast<double>(x));
        worst = std::max(worst, std::fabs(first[l] - exact) / ulp(exact));
      }
    }
    for (const LanesTable* table : all) {
      Sixteen out;
      table->exp(out.data(), numbers.data() + i);
      ASSERT_EQ(std::memcmp(out.data(), first.data(), sizeof out), 0) << numbers[i];
      for (std::size_t l = 0; l < 16; ++l) ASSERT_EQ(bits(table->exp1(numbers[i + l])), bits(first[l]));
    }
  }
  EXPECT_LT(worst, kExpError);
}

TEST(Lanes, ExpKeepsItsSpecialValues) {
  for (const LanesTable* table : tables()) {
    EXPECT_EQ(table->exp1(0.0f), 1.0f);
    EXPECT_EQ(table->exp1(-0.0f), 1.0f);
    EXPECT_EQ(bits(table->exp1(-kInfinity)), 0u);
    EXPECT_EQ(bits(table->exp1(-100.0f)), 0u);
    EXPECT_EQ(table->exp1(kInfinity), kInfinity);
    EXPECT_EQ(table->exp1(100.0f), kInfinity);
    EXPECT_TRUE(std::isnan(table->exp1(kNaN)));
    EXPECT_TRUE(std::isfinite(table->exp1(88.7228f)));
  }
}

TEST(Lanes, TanhIsGoodToFourUlpAndTheSameInAllSets) {
  std::vector<float> numbers = many_numbers();
  for (std::uint64_t i = 0; i < 16000; ++i) {  // of all sizes below 12
    numbers.push_back((uniform(9, Purpose::test, i, 0) - 0.5f) * std::ldexp(24.0f, -static_cast<int>(i % 40)));
  }
  const std::vector<const LanesTable*> all = tables();
  double worst = 0.0;
  for (std::size_t i = 0; i < numbers.size(); i += 16) {
    Sixteen first;
    all.front()->tanh(first.data(), numbers.data() + i);
    for (std::size_t l = 0; l < 16; ++l) {
      const double x = numbers[i + l], exact = std::tanh(x);
      ASSERT_EQ(std::isnan(first[l]), std::isnan(x));
      if (std::isnan(x)) continue;
      ASSERT_LE(std::fabs(first[l]), 1.0f) << x;
      worst = std::max(worst, exact == 0.0 ? std::fabs(static_cast<double>(first[l])) : std::fabs(first[l] - exact) / ulp(exact));
    }
    for (const LanesTable* table : all) {
      Sixteen out;
      table->tanh(out.data(), numbers.data() + i);
      ASSERT_EQ(std::memcmp(out.data(), first.data(), sizeof out), 0) << numbers[i];
    }
  }
  EXPECT_LT(worst, kTanhError);
}

TEST(Lanes, LogIsRoundedOnceAndTheSameInAllSets) {
  const std::vector<const LanesTable*> all = tables();
  double worst = 0.0;
  for (std::uint64_t i = 0; i < 20000; ++i) {
    const float x = i < 10000 ? from_bits(0x00800000u + static_cast<std::uint32_t>(uniform(8, Purpose::test, i, 0) * 0x7f000000p0f))
                              : 0.5f + 1.5f * uniform(8, Purpose::test, i, 0);
    const float first = all.front()->log1(x);
    const double exact = std::log(static_cast<double>(x));
    if (exact != 0.0) worst = std::max(worst, std::fabs(first - exact) / ulp(exact));
    for (const LanesTable* table : all) ASSERT_EQ(bits(table->log1(x)), bits(first)) << x;
  }
  EXPECT_LT(worst, kLogError);
  for (const LanesTable* table : all) {
    EXPECT_EQ(table->log1(1.0f), 0.0f);
    EXPECT_EQ(table->log1(0.0f), -kInfinity);
    EXPECT_EQ(table->log1(kInfinity), kInfinity);
    EXPECT_TRUE(std::isnan(table->log1(-1.0f)));
    EXPECT_TRUE(std::isnan(table->log1(kNaN)));
  }
}

TEST(Lanes, RoundToBf16LikeTheReference) {
  std::vector<float> numbers = many_numbers();
  for (std::size_t i = 0; i < numbers.size(); i += 16) {
    for (const LanesTable* table : tables()) {
      Sixteen out;
      table->round_bf16(out.data(), numbers.data() + i);
      for (std::size_t l = 0; l < 16; ++l) {
        const float x = numbers[i + l];
        if (std::isnan(x)) {
          ASSERT_TRUE(std::isnan(out[l]));
        } else {
          ASSERT_EQ(bits(out[l]), bits(reference::to_bf16(x))) << x;
        }
      }
    }
  }
}

TEST(Tile, IsOneChainForEveryNumberOfRowsAndAnyCutOfTheSum) {
  constexpr std::int64_t kSum = 37, kCut = 11, kRowStride = 41, kColumnStride = 19;
  const std::vector<float> a = reference::random_values(12 * kRowStride, 50), b = reference::random_values(kSum * kColumnStride, 51);
  for (const LanesTable* table : tables()) {
    for (int rows = 1; rows <= 6; ++rows) {
      std::vector<float> c = reference::poisoned(rows * 16);
      table->tile(rows, a.data(), kRowStride, 1, b.data(), kColumnStride, c.data(), 16, kCut, false);
      table->tile(rows, a.data() + kCut, kRowStride, 1, b.data() + kCut * kColumnStride, kColumnStride, c.data(), 16, kSum - kCut,
                  true);
      for (int r = 0; r < rows; ++r) {
        for (int j = 0; j < 16; ++j) {
          float chain = 0.0f;
          for (std::int64_t k = 0; k < kSum; ++k) chain = std::fma(a[r * kRowStride + k], b[k * kColumnStride + j], chain);
          ASSERT_EQ(bits(c[static_cast<std::size_t>(r * 16 + j)]), bits(chain)) << rows << " rows";
        }
      }
    }
  }
}

}  // namespace
}  // namespace maxplus
