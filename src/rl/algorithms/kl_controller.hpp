#pragma once
// A coefficient of the KL term that follows the divergence (Ziegler et al., "Fine-tuning language models from human
// preferences", 2019, arXiv 1909.08593, section 2.2): after an iteration of n rollouts with the mean divergence KL,
//   e = clip(KL / target - 1, -0.2, 0.2),  coefficient *= 1 + e min(n / horizon, 1)

#include <cstdint>
#include <optional>
#include <vector>

#include "base/error.hpp"

namespace maxplus {

struct AlgorithmTable;  // deck/tables.hpp

struct KlController {
  double target = 0;
  double horizon = 10000;  // rollouts

  double next(double coefficient, double divergence, std::int64_t rollouts) const;
};

// Absent without kl_target. Adds a fault for a key that has no meaning.
std::optional<KlController> kl_controller(const AlgorithmTable& table, std::vector<Fault>& faults);

}  // namespace maxplus
