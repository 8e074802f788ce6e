#pragma once
// Bounds of a number without symbols: for signs, and for the rule about decimals that were cut off.

#include <optional>

#include "verify/math/scalar.hpp"

namespace maxplus::math {

// low <= value <= high, with low and high some 70 digits long.
struct Bounds {
  mpq_class low, high;
};

// Of rational numbers, their roots and powers of pi; nothing for everything else.
std::optional<Bounds> bounds_of(const Scalar& value, Work& work);

// -1, 0 or 1, if that is certain.
std::optional<int> sign_of(const Scalar& value, Work& work);

}  // namespace maxplus::math
