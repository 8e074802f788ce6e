#include "tensor/arena.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace maxplus {

Arena::Arena(std::string name) : name_(std::move(name)), counting_(true), space_(Space::host) {}

Arena::Arena(std::string name, std::size_t bytes, Space space)
    : name_(std::move(name)), counting_(false), space_(space), memory_(bytes, space) {}

TensorView Arena::take(DType dtype, std::initializer_list<std::int64_t> extents) {
  std::size_t bytes = size_of(dtype);
  for (std::int64_t extent : extents) {
    MAXPLUS_REQUIRE(extent >= 0, "negative extent");
    bytes *= static_cast<std::size_t>(extent);
  }
  bytes = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  MAXPLUS_REQUIRE(
      counting_ || used_ + bytes <= memory_.bytes(),
      fmt::format("arena '{}' of {} bytes is full: {} used, {} asked for", name_, memory_.bytes(), used_, bytes));
  void* data = counting_ ? nullptr : static_cast<char*>(memory_.data()) + used_;
  used_ += bytes;
  peak_ = std::max(peak_, used_);
  return TensorView(data, dtype, space_, extents);
}

void Arena::release(std::size_t mark) {
  MAXPLUS_REQUIRE(mark <= used_, "a mark is released twice");
  used_ = mark;
}

}  // namespace maxplus
