// Biases and their gradients against plain loops of the same order, on every set and team.
#include "ops/bias.hpp"

#include <gtest/gtest.h>

#include "kernels/every_set.hpp"
#include "kernels/host_tensors.hpp"

namespace maxplus {
namespace {

using test::seeded;
using test::view_of;

TEST(Bias, IsAddedToEveryRowAndItsGradientIsTheSumOfRowsInOrder) {
  test::with_every_set_and_team([](int threads) {
    const Stream stream(threads, Stream::Waiting::sleep);
    for (const std::int64_t rows : {0, 1, 9}) {
      for (const std::int64_t columns : {1, 63, 64, 150}) {
        std::vector<float> values = seeded(rows * columns, 1, 1), bias = seeded(columns, 2, 1),
                           sums = seeded(columns, 3, 1);
        const std::vector<float> before = values;
        std::vector<float> expected = sums;
        ops::bias_gradient(stream, view_of(sums, {columns}), view_of(values, {rows, columns}));
        ops::add_bias(stream, view_of(values, {rows, columns}), view_of(bias, {columns}));
        for (std::int64_t i = 0; i < rows * columns; ++i) {
          const auto at = static_cast<std::size_t>(i), c = static_cast<std::size_t>(i % columns);
          ASSERT_EQ(values[at], before[at] + bias[c]);
          expected[c] += before[at];
        }
        EXPECT_TRUE(test::same_bits(sums, expected)) << rows << " x " << columns;
      }
    }
  });
}

}  // namespace
}  // namespace maxplus
