#pragma once
// The probability ratio r = exp(l) of two policies, l clamped to +-20 so that no token makes a sum infinite; beyond it
// the ratio is constant. At l = 0 it is exactly 1.

#include <algorithm>

#include "base/exact_math.hpp"

namespace maxplus {

inline constexpr double kLogRatioLimit = 20;

inline double clamp_log_ratio(double l) { return std::clamp(l, -kLogRatioLimit, kLogRatioLimit); }
inline bool log_ratio_is_free(double l) { return l > -kLogRatioLimit && l < kLogRatioLimit; }

struct Ratio {
  double value = 1;
  double slope = 1;  // by l
};

inline Ratio ratio_of(double log_ratio) {
  const double value = exact_exp(clamp_log_ratio(log_ratio));
  return {value, log_ratio_is_free(log_ratio) ? value : 0.0};
}

}  // namespace maxplus
