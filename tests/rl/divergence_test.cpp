// Estimators of the divergence: their means under the policy by enumeration, and their derivatives.
#include "rl/algorithms/divergence.hpp"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "rl/algorithm_support.hpp"

namespace maxplus {
namespace {

constexpr int kOutcomes = 17;
constexpr double kRounding = 1e-13;  // sums of 17 terms of about 1

std::vector<double> distribution(std::uint64_t seed) {
  std::vector<double> p;
  double sum = 0;
  for (int i = 0; i < kOutcomes; ++i)
    sum += p.emplace_back(std::exp(3 * testing_rl::draw(seed, static_cast<std::uint64_t>(i))));
  for (double& x : p) x /= sum;
  return p;
}

double mean_of(KlEstimator estimator, const std::vector<double>& policy, const std::vector<double>& reference) {
  double mean = 0;
  for (std::size_t i = 0; i < policy.size(); ++i)
    mean += policy[i] * kl_term(estimator, std::log(policy[i]), std::log(reference[i])).value;
  return mean;
}

TEST(Divergence, K1AndK3HaveTheDivergenceAsTheirMean) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const std::vector<double> policy = distribution(seed), reference = distribution(seed + 100);
    double divergence = 0;
    for (std::size_t i = 0; i < policy.size(); ++i) divergence += policy[i] * std::log(policy[i] / reference[i]);
    EXPECT_GT(divergence, 0.1);
    EXPECT_NEAR(mean_of(KlEstimator::k1, policy, reference), divergence, kRounding);
    EXPECT_NEAR(mean_of(KlEstimator::k3, policy, reference), divergence, kRounding);
    EXPECT_GT(std::abs(mean_of(KlEstimator::k2, policy, reference) - divergence), 1e-3) << "k2 is biased";
  }
}

TEST(Divergence, AllThreeAgreeToSecondOrderNearTheReference) {
  const std::vector<double> reference = distribution(3);
  std::vector<double> near = reference;
  near[0] += 1e-4, near[1] -= 1e-4;
  const double exact = mean_of(KlEstimator::k3, near, reference);
  EXPECT_GT(exact, 0);
  EXPECT_NEAR(mean_of(KlEstimator::k2, near, reference) / exact, 1, 0.01);
}

TEST(Divergence, SlopesAreFiniteDifferences) {
  for (const KlEstimator estimator : {KlEstimator::k1, KlEstimator::k2, KlEstimator::k3}) {
    for (const double log_prob : {-0.1, -1.5, -6.0}) {
      const auto value = [&](double x) { return kl_term(estimator, x, -1.2).value; };
      const double slope = (value(log_prob + 1e-5) - value(log_prob - 1e-5)) / 2e-5;
      EXPECT_NEAR(kl_term(estimator, log_prob, -1.2).slope, slope, 1e-6 * std::max(1.0, std::abs(slope)));
    }
  }
}

}  // namespace
}  // namespace maxplus
