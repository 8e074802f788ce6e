// Views: extents, slices by rows, other shapes, typed access.
#include "tensor/tensor_view.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace maxplus {
namespace {

TEST(TensorView, KnowsItsExtentsAndSize) {
  std::vector<float> data(24);
  const TensorView view(data.data(), DType::f32, Space::host, {2, 3, 4});
  EXPECT_EQ(view.rank(), 3);
  EXPECT_EQ(view.size(), 24);
  EXPECT_EQ(view.bytes(), 96u);
  EXPECT_EQ(view.extent(1), 3);
  EXPECT_EQ(view.extent(3), 1);  // beyond the rank
  EXPECT_EQ(describe(view), "f32 [2, 3, 4]");
  EXPECT_FALSE(view.empty());
  EXPECT_TRUE(TensorView(nullptr, DType::i64, Space::host, {5, 0}).empty());
}

TEST(TensorView, RowsAreContiguousSlices) {
  std::vector<std::int32_t> data(35);
  const TensorView view(data.data(), DType::i32, Space::host, {7, 5});
  const TensorView slice = view.rows(2, 3);
  EXPECT_EQ(slice.as<std::int32_t>(), data.data() + 10);
  EXPECT_EQ(slice.extent(0), 3);
  EXPECT_EQ(slice.extent(1), 5);
  EXPECT_TRUE(view.rows(7, 0).empty());
  EXPECT_THROW(view.rows(5, 3), Error);
  EXPECT_THROW(view.rows(-1, 1), Error);
  EXPECT_THROW(TensorView().rows(0, 0), Error);
}

TEST(TensorView, TakesOtherExtentsOfEqualProductOnly) {
  std::vector<float> data(12);
  const TensorView view(data.data(), DType::f32, Space::host, {3, 4});
  EXPECT_EQ(view.reshaped({2, 6}).extent(1), 6);
  EXPECT_EQ(view.reshaped({12}).span<float>().size(), 12u);
  EXPECT_THROW(view.reshaped({5, 2}), Error);
}

TEST(TensorView, RefusesAnotherType) {
  std::vector<double> data(2);
  const TensorView view(data.data(), DType::f64, Space::host, {2});
  EXPECT_EQ(view.as<double>(), data.data());
  EXPECT_THROW(view.as<float>(), Error);
}

}  // namespace
}  // namespace maxplus
