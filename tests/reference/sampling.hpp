#pragma once
// The distribution that a sampling rule draws from, for one row of logits, as plain double loops (ops/sampling.hpp).

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

#include "reference/logprob.hpp"

namespace maxplus::reference {

struct KeptSet {
  std::vector<std::size_t> token;   // most probable first, ties by lower index
  std::vector<double> probability;  // renormalised
};

// top_k = 0 and top_p = 1 keep everything. top_k first, top_p of what it left.
inline KeptSet kept_set(std::span<const double> logits, double inverse_temperature, std::size_t top_k, double top_p) {
  const std::vector<double> log_p = log_softmax(logits, inverse_temperature);
  KeptSet kept;
  kept.token.resize(logits.size());
  std::iota(kept.token.begin(), kept.token.end(), std::size_t{0});
  std::stable_sort(kept.token.begin(), kept.token.end(), [&](auto a, auto b) { return log_p[a] > log_p[b]; });
  if (top_k > 0 && top_k < kept.token.size()) kept.token.resize(top_k);
  double total = 0, sum = 0;
  for (std::size_t j : kept.token) total += std::exp(log_p[j]);
  if (top_p < 1) {
    std::size_t count = 0;
    while (count < kept.token.size() && sum < top_p * total) sum += std::exp(log_p[kept.token[count++]]);
    kept.token.resize(count);
    total = sum;
  }
  for (std::size_t j : kept.token) kept.probability.push_back(std::exp(log_p[j]) / total);
  return kept;
}

}  // namespace maxplus::reference
