#pragma once
// A view of a tensor: pointer, element type, space, up to four extents, row-major and contiguous. It owns nothing and
// is passed by value. It is sliced by its leading index only, so every slice is contiguous too.

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

#include "base/error.hpp"
#include "device/memory.hpp"
#include "tensor/dtype.hpp"

namespace maxplus {

class TensorView {
 public:
  static constexpr int kMaxRank = 4;

  TensorView() = default;
  TensorView(void* data, DType dtype, Space space, std::initializer_list<std::int64_t> extents)
      : TensorView(data, dtype, space, std::span<const std::int64_t>(extents.begin(), extents.size())) {}
  TensorView(void* data, DType dtype, Space space, std::span<const std::int64_t> extents)
      : data_(data), dtype_(dtype), space_(space), rank_(static_cast<int>(extents.size())) {
    MAXPLUS_REQUIRE(rank_ <= kMaxRank, "a view has at most four extents");
    for (int i = 0; i < rank_; ++i) extents_[static_cast<std::size_t>(i)] = extents[static_cast<std::size_t>(i)];
  }

  void* data() const { return data_; }
  DType dtype() const { return dtype_; }
  Space space() const { return space_; }
  int rank() const { return rank_; }
  std::int64_t extent(int axis) const { return axis < rank_ ? extents_[static_cast<std::size_t>(axis)] : 1; }
  std::span<const std::int64_t> extents() const { return {extents_.data(), static_cast<std::size_t>(rank_)}; }
  std::int64_t size() const {
    std::int64_t product = 1;
    for (int i = 0; i < rank_; ++i) product *= extents_[static_cast<std::size_t>(i)];
    return product;
  }
  std::size_t bytes() const { return static_cast<std::size_t>(size()) * size_of(dtype_); }
  bool empty() const { return size() == 0; }

  // Rows [first, first + count) of the leading axis.
  TensorView rows(std::int64_t first, std::int64_t count) const;
  // The same elements under other extents of equal product.
  TensorView reshaped(std::initializer_list<std::int64_t> extents) const;

  // Typed access for host code and kernels. Throws (a bug) when the type differs.
  template <class T>
  T* as() const {
    MAXPLUS_REQUIRE(dtype_ == DTypeOf<T>::value, "element type is " + std::string(name_of(dtype_)));
    return static_cast<T*>(data_);
  }
  template <class T>
  std::span<T> span() const {
    return {as<T>(), static_cast<std::size_t>(size())};
  }

 private:
  void* data_ = nullptr;
  DType dtype_ = DType::f32;
  Space space_ = Space::host;
  int rank_ = 0;
  std::array<std::int64_t, kMaxRank> extents_{};
};

std::string describe(const TensorView& view);  // "f32 [3, 64]"

}  // namespace maxplus
