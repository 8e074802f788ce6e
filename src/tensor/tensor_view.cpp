#include "tensor/tensor_view.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace maxplus {

TensorView TensorView::rows(std::int64_t first, std::int64_t count) const {
  MAXPLUS_REQUIRE(rank_ >= 1 && first >= 0 && count >= 0 && first + count <= extents_[0],
                  fmt::format("rows [{}, {}) of {}", first, first + count, describe(*this)));
  TensorView slice = *this;
  std::int64_t stride = 1;
  for (int i = 1; i < rank_; ++i) stride *= extents_[static_cast<std::size_t>(i)];
  slice.data_ = static_cast<char*>(data_) + static_cast<std::size_t>(first * stride) * size_of(dtype_);
  slice.extents_[0] = count;
  return slice;
}

TensorView TensorView::reshaped(std::initializer_list<std::int64_t> extents) const {
  TensorView view(data_, dtype_, space_, extents);
  MAXPLUS_REQUIRE(view.size() == size(), fmt::format("{} as {}", describe(*this), describe(view)));
  return view;
}

std::string describe(const TensorView& view) {
  return fmt::format("{} [{}]", name_of(view.dtype()), fmt::join(view.extents(), ", "));
}

}  // namespace maxplus
