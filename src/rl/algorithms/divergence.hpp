#pragma once
// Estimators of the divergence from a reference, a token each, and their derivatives (J. Schulman, "Approximating KL
// divergence", 2020). d = lp - ref:
//   k1 = d            unbiased, of either sign
//   k2 = d^2 / 2      the right gradient on policy
//   k3 = exp(-d) + d - 1, never below 0; d is clamped to +-20

#include <cstdint>
#include <string>

namespace maxplus {

enum class KlEstimator : std::uint8_t { none, k1, k2, k3 };

KlEstimator kl_estimator_of(const std::string& name);  // throws Error(ExitCode::config)
const char* name_of(KlEstimator estimator);

struct KlTerm {
  double value = 0;
  double slope = 0;  // by lp
};
KlTerm kl_term(KlEstimator estimator, double log_prob, double reference_log_prob);

}  // namespace maxplus
