// The sum over slices has the bits of the whole tree, computed here by recursion, on any number of ranks.
#include "parallel/gradient_sync.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.hpp"

namespace maxplus {
namespace {

constexpr std::uint64_t kSeed = 20260601;

// Values of many sizes, so that another order of additions shows.
float gradient_of(int slice, std::int64_t element) {
  const RandomBlock b = random_block(kSeed, Purpose::test, static_cast<std::uint64_t>(slice), static_cast<std::uint64_t>(element));
  const float mantissa = static_cast<float>(b.word[0] >> 8) * 0x1.0p-24f - 0.5f;
  return std::ldexp(mantissa, static_cast<int>(b.word[1] % 24) - 12);
}

float tree(int first, int slices, std::int64_t element) {
  if (slices == 1) return 0.0f + gradient_of(first, element);
  return tree(first, slices / 2, element) + tree(first + slices / 2, slices / 2, element);
}

struct Case {
  std::int64_t elements;
  int slices;
};

void fill_slices(const Stream& stream, GradientSum& sum) {
  for (int s = sum.range().first; s < sum.range().last; ++s) {
    const TensorView buffer = sum.begin_slice(stream);
    float* values = buffer.as<float>();
    for (std::int64_t i = 0; i < buffer.size(); ++i) values[i] += gradient_of(s, i);
    sum.end_slice(stream);
  }
}

class GradientSumOnRanks : public ::testing::TestWithParam<Case> {};

TEST_P(GradientSumOnRanks, GivesTheBitsOfTheTree) {
  const auto [elements, slices] = GetParam();
  const Communicator comm("data", MPI_COMM_WORLD, Communicator::Checking::on);
  if (comm.size() > slices) GTEST_SKIP() << "more ranks than slices";
  const Stream stream(1, Stream::Waiting::sleep);
  Arena plan("plan");
  GradientSum planned(plan, elements, slices, comm.rank(), comm.size());
  Arena arena("gradients", plan.peak(), Space::host);
  std::memset(arena.take(DType::u8, {static_cast<std::int64_t>(plan.peak())}).data(), 0xFF, plan.peak());  // NaN
  arena.release(0);
  GradientSum sum(arena, elements, slices, comm.rank(), comm.size());
  std::vector<float> total(static_cast<std::size_t>(elements), std::numeric_limits<float>::quiet_NaN());
  const TensorView view(total.data(), DType::f32, Space::host, {elements});
  for (int repeat = 0; repeat < 2; ++repeat) {  // the second time with the first buffer as the target
    fill_slices(stream, sum);
    const TensorView target = repeat == 0 ? view : sum.first_buffer();
    const std::int64_t before = comm.traffic().bytes_sent;
    sum.finish(stream, comm, target);
    const std::int64_t sent = comm.traffic().bytes_sent - before;
    const auto k = static_cast<std::int64_t>(subtrees_of_range(sum.range()).size());
    const double expected = 4.0 * static_cast<double>(elements * (k + 1) * (comm.size() - 1)) / comm.size();
    EXPECT_LE(std::abs(static_cast<double>(sent) - expected), 4.0 * static_cast<double>(k + comm.size()));  // up to rounding of the cut
    const std::int64_t step = elements > 100000 ? 97 : 1;  // of a large block a sample is compared
    for (std::int64_t i = 0; i < elements; i += step) {
      const float found = target.as<float>()[i], right = tree(0, slices, i);
      ASSERT_EQ(std::memcmp(&found, &right, sizeof found), 0) << "element " << i << ": " << found << " for " << right;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, GradientSumOnRanks,
                         ::testing::Values(Case{1, 8}, Case{5, 8}, Case{1001, 8}, Case{4096, 16}, Case{333, 1}, Case{333, 2},
                                           Case{333, 4}, Case{1300003, 8}));  // the last needs several rounds

}  // namespace
}  // namespace maxplus
