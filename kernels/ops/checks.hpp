#pragma once
// Argument checks shared by all backends. A violation is a bug in the caller.

#include <cstdint>
#include <initializer_list>
#include <string>

#include <fmt/format.h>

#include "tensor/tensor_view.hpp"

namespace maxplus::ops {

inline void check_view(const char* what, const TensorView& view, DType dtype,
                       std::initializer_list<std::int64_t> extents) {
  bool right = view.dtype() == dtype && view.rank() == static_cast<int>(extents.size());
  int axis = 0;
  for (std::int64_t extent : extents) right = right && view.extent(axis++) == extent;
  if (!right) {
    std::string expected = std::string(name_of(dtype)) + " [";
    for (std::int64_t extent : extents) expected += fmt::format("{}{}", expected.back() == '[' ? "" : ", ", extent);
    fail_invariant(what, __FILE__, __LINE__, fmt::format("is {}, expected {}]", describe(view), expected));
  }
}

inline void check_size(const char* what, const TensorView& view, DType dtype, std::int64_t least) {
  if (view.dtype() != dtype || view.size() < least) {
    fail_invariant(what, __FILE__, __LINE__,
                   fmt::format("is {}, expected {} of at least {}", describe(view), name_of(dtype), least));
  }
}

}  // namespace maxplus::ops
