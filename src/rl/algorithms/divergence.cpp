#include "rl/algorithms/divergence.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/exact_math.hpp"
#include "rl/algorithms/ratio.hpp"

namespace maxplus {

namespace {
constexpr const char* kNames[] = {"none", "k1", "k2", "k3"};
}

KlEstimator kl_estimator_of(const std::string& name) {
  for (const KlEstimator estimator : {KlEstimator::none, KlEstimator::k1, KlEstimator::k2, KlEstimator::k3}) {
    if (name == name_of(estimator)) return estimator;
  }
  throw Error(ExitCode::config,
              Fault{"", fmt::format("[algorithm] kl = '{}' is unknown", name), "none, k1, k2 or k3", ""});
}

const char* name_of(KlEstimator estimator) { return kNames[static_cast<int>(estimator)]; }

KlTerm kl_term(KlEstimator estimator, double log_prob, double reference_log_prob) {
  const double d = log_prob - reference_log_prob;
  switch (estimator) {
    case KlEstimator::none: return {};
    case KlEstimator::k1: return {d, 1};
    case KlEstimator::k2: return {0.5 * d * d, d};
    case KlEstimator::k3: {
      const double c = clamp_log_ratio(d);
      const double inverse = exact_exp(-c);
      // Rounding may leave the sum just below 0, which k3 never is.
      return {std::max(inverse + c - 1, 0.0), log_ratio_is_free(d) ? 1 - inverse : 0.0};
    }
  }
  MAXPLUS_REQUIRE(false, "unknown KL estimator");
}

}  // namespace maxplus
