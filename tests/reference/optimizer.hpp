#pragma once
// AdamW and sums of squares in double.

#include <cmath>
#include <cstdint>
#include <vector>

#include "ops/optimizer.hpp"

namespace maxplus::reference {

struct AdamWState {
  std::vector<double> weight, first_moment, second_moment;
};

inline void adamw(AdamWState& state, const std::vector<float>& gradient, const ops::AdamWStep& step) {
  const double lr = step.learning_rate, b1 = step.beta1, b2 = step.beta2;
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    const double g = static_cast<double>(step.gradient_scale) * static_cast<double>(gradient[i]);
    double& w = state.weight[i];
    double& m = state.first_moment[i];
    double& v = state.second_moment[i];
    w *= 1.0 - lr * static_cast<double>(step.weight_decay);
    m = b1 * m + (1.0 - b1) * g;
    v = b2 * v + (1.0 - b2) * g * g;
    w -= lr / static_cast<double>(step.correction1) * m /
         (std::sqrt(v) / static_cast<double>(step.correction2) + static_cast<double>(step.epsilon));
  }
}

inline double sum_of_squares(const float* values, std::int64_t count) {
  double sum = 0.0;
  for (std::int64_t i = 0; i < count; ++i) sum += static_cast<double>(values[i]) * static_cast<double>(values[i]);
  return sum;
}

}  // namespace maxplus::reference
