#pragma once
// What the tests of kernels share: seeded and poisoned vectors, views of them, and how two of them are compared.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <vector>

#include "base/random.hpp"
#include "tensor/tensor_view.hpp"

namespace maxplus::test {

template <class T>
TensorView view_of(std::vector<T>& values, std::initializer_list<std::int64_t> extents) {
  const TensorView view(values.data(), DTypeOf<T>::value, Space::device, extents);
  MAXPLUS_REQUIRE(view.size() == static_cast<std::int64_t>(values.size()), "the extents do not fit the vector");
  return view;
}

// Uniform in [-size, size).
inline std::vector<float> seeded(std::int64_t count, std::uint64_t seed, float size) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = size * (2 * uniform(seed, Purpose::test, i, 0) - 1);
  return values;
}

inline std::vector<float> poisoned(std::int64_t count) {
  return std::vector<float>(static_cast<std::size_t>(count), std::numeric_limits<float>::quiet_NaN());
}

inline std::vector<double> to_double(const std::vector<float>& values) { return {values.begin(), values.end()}; }

inline bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}

// The largest |a - b| / max(1, |b|); infinite when a value is not finite or the sizes differ.
inline double largest_error(const std::vector<float>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return std::numeric_limits<double>::infinity();
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double error = std::fabs(static_cast<double>(a[i]) - b[i]) / std::fmax(1.0, std::fabs(b[i]));
    largest = std::isfinite(error) ? std::fmax(largest, error) : std::numeric_limits<double>::infinity();
  }
  return largest;
}

inline double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// The central difference of loss(values) by element i.
template <class Loss>
double difference(std::vector<double> values, std::size_t i, Loss loss) {
  constexpr double kStep = 1e-5;  // truncation about 1e-10, rounding about 1e-11 for losses of order 1
  const double centre = values[i];
  values[i] = centre + kStep;
  const double above = loss(values);
  values[i] = centre - kStep;
  return (above - loss(values)) / (2 * kStep);
}

}  // namespace maxplus::test
