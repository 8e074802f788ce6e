// Element-wise helpers at odd sizes, on one to three threads, with every instruction set of this processor.
#include "ops/elementwise.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "kokkos/kernel_table.hpp"
#include "reference/elementwise.hpp"
#include "reference/random_values.hpp"

namespace maxplus {
namespace {

using reference::poisoned;
using reference::random_values;

constexpr std::int64_t kSizes[] = {0, 1, 15, 17, 4097, 30011};
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

TensorView view(std::vector<float>& values) {
  return TensorView(values.data(), DType::f32, Space::host, {static_cast<std::int64_t>(values.size())});
}
TensorView view(std::vector<std::uint16_t>& values) {
  return TensorView(values.data(), DType::bf16, Space::host, {static_cast<std::int64_t>(values.size())});
}

// Parameter: instruction set * 4 + threads.
class Elementwise : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    if (GetParam() / 4 > static_cast<int>(host::best_instruction_set())) GTEST_SKIP() << "this processor lacks the set";
    before_ = host::instruction_set_in_use();
    host::use_instruction_set(static_cast<host::InstructionSet>(GetParam() / 4));
  }
  void TearDown() override { host::use_instruction_set(before_); }
  host::InstructionSet before_ = host::InstructionSet::plain;
  Stream stream_{GetParam() % 4, Stream::Waiting::spin_briefly};
};

TEST_P(Elementwise, FillsAddsAndScales) {
  for (const std::int64_t size : kSizes) {
    std::vector<float> a = random_values(size, 1), b = random_values(size, 2), out = poisoned(size), scaled = poisoned(size);
    ops::add(stream_, view(out), view(a), view(b));
    ops::scale(stream_, view(scaled), view(a), 0.3f);
    for (std::size_t i = 0; i < out.size(); ++i) {
      ASSERT_EQ(out[i], a[i] + b[i]);
      ASSERT_EQ(scaled[i], a[i] * 0.3f);
    }
    std::vector<float> in_place = a;
    ops::add(stream_, view(in_place), view(in_place), view(b));
    EXPECT_EQ(in_place, out);
    ops::fill(stream_, view(out), -2.5f);
    EXPECT_EQ(out, std::vector<float>(static_cast<std::size_t>(size), -2.5f));
  }
}

TEST_P(Elementwise, CopiesThereAndBack) {
  for (const std::int64_t size : kSizes) {
    std::vector<float> in = random_values(size, 3), device = poisoned(size), again = poisoned(size), host_copy = poisoned(size);
    ops::copy_to_device(stream_, view(device), in.data());
    ops::copy(stream_, view(again), view(device));
    ops::copy_to_host(stream_, host_copy.data(), view(again));
    EXPECT_EQ(host_copy, in);
  }
}

TEST_P(Elementwise, RoundsToBf16ToTheNearestEven) {
  std::vector<float> in = random_values(4097, 4);
  for (const float x : {0.0f, -0.0f, kInfinity, -kInfinity, kNaN, 1.00390625f, 1.01171875f, 3.4e38f, 1.00390637f}) in.push_back(x);
  std::vector<std::uint16_t> half(in.size(), 0xffff);
  ops::to_bf16(stream_, view(half), view(in));
  for (std::size_t i = 0; i < in.size(); ++i) ASSERT_EQ(half[i], reference::bf16_bits(in[i])) << in[i];
  std::vector<float> back = poisoned(static_cast<std::int64_t>(in.size()));
  ops::from_bf16(stream_, view(back), view(half));
  for (std::size_t i = 0; i < in.size(); ++i) {
    const float expected = reference::bf16_value(half[i]);
    ASSERT_EQ(std::memcmp(&back[i], &expected, sizeof expected), 0) << in[i];
  }
}

TEST_P(Elementwise, CountsWhatIsNotFinite) {
  for (const std::int64_t size : kSizes) {
    std::vector<float> values = random_values(size, 5);
    EXPECT_EQ(ops::count_not_finite(stream_, view(values)), 0);
    if (size < 17) continue;
    values[0] = kNaN;
    values[16] = kInfinity;
    values.back() = -kInfinity;
    values[7] = std::numeric_limits<float>::max();
    EXPECT_EQ(ops::count_not_finite(stream_, view(values)), size == 17 ? 2 : 3);
  }
}

TEST_P(Elementwise, RefusesSizesThatDiffer) {
  std::vector<float> three(3), four(4);
  EXPECT_THROW(ops::add(stream_, view(three), view(three), view(four)), Error);
  EXPECT_THROW(ops::copy(stream_, view(three), view(four)), Error);
  std::vector<std::uint16_t> half(3);
  EXPECT_THROW(ops::copy(stream_, view(three), view(half)), Error);
}

INSTANTIATE_TEST_SUITE_P(SetsAndThreads, Elementwise, testing::Values(1, 2, 3, 4 + 1, 4 + 2, 4 + 3, 8 + 1, 8 + 2, 8 + 3));

}  // namespace
}  // namespace maxplus
