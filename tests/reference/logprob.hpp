#pragma once
// Log-probabilities, entropy and their gradient for one row of logits, as plain double loops (ops/logprob.hpp).

#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

namespace maxplus::reference {

inline std::vector<double> log_softmax(std::span<const double> logits, double inverse_temperature) {
  double maximum = -INFINITY, sum = 0;
  for (double logit : logits) maximum = std::fmax(maximum, logit * inverse_temperature);
  for (double logit : logits) sum += std::exp(logit * inverse_temperature - maximum);
  std::vector<double> result;
  for (double logit : logits) result.push_back(logit * inverse_temperature - maximum - std::log(sum));
  return result;
}

inline double entropy(std::span<const double> logits, double inverse_temperature) {
  double sum = 0;
  for (double log_p : log_softmax(logits, inverse_temperature)) sum -= std::exp(log_p) * log_p;
  return sum;
}

// Gradient of sum over n of (d_log_prob[n] log p(target[n]) + d_entropy[n] entropy).
inline std::vector<double> log_prob_backward(std::span<const double> logits, std::span<const std::size_t> target,
                                             std::span<const double> d_log_prob, std::span<const double> d_entropy,
                                             double inverse_temperature) {
  const std::vector<double> log_p = log_softmax(logits, inverse_temperature);
  const double h = entropy(logits, inverse_temperature);
  std::vector<double> d_logits(logits.size());
  for (std::size_t n = 0; n < target.size(); ++n) {
    for (std::size_t j = 0; j < logits.size(); ++j) {
      const double p = std::exp(log_p[j]), hit = j == target[n] ? 1 : 0;
      d_logits[j] += inverse_temperature * (d_log_prob[n] * (hit - p) - d_entropy[n] * p * (log_p[j] + h));
    }
  }
  return d_logits;
}

}  // namespace maxplus::reference
