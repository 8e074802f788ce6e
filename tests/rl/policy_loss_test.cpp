#include "rl/algorithms/policy_loss.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "rl/algorithm_support.hpp"
#include "rl/algorithms/m2po.hpp"

namespace maxplus {
namespace {

using testing_rl::settings_of;
using testing_rl::table_of;
using testing_rl::wide_step;
using testing_rl::WideStep;

// The laws between rules. A step whose policy has moved; losses and gradients of two rules on it.
struct Pair {
  WideStep step;
  PolicyRule a, b;

  void expect_equal(double tolerance) const {
    for (std::size_t i = 0; i < step.experiences.size(); ++i) {
      const DoubleLoss x = policy_loss(step.terms(i), step.statistics, a),
                       y = policy_loss(step.terms(i), step.statistics, b);
      EXPECT_NEAR(x.sums.loss, y.sums.loss, tolerance);
      for (std::size_t t = 0; t < x.d_log_prob.size(); ++t) EXPECT_NEAR(x.d_log_prob[t], y.d_log_prob[t], tolerance);
    }
  }
};

PolicyRule rule_of(const AlgorithmTable& table) { return settings_of(table).policy; }

PolicyRule rule_of(const std::string& name) { return rule_of(table_of(name)); }

TEST(PolicyLaws, DecoupledIsPlainWhenTheProximalPolicyDrew) {
  Pair pair{wide_step(*make_algorithm(table_of("grpo"), 16)), rule_of("decoupled_ppo"), rule_of("decoupled_ppo")};
  pair.b.importance.proximal = Proximal::behaviour;
  pair.step.proximal = pair.step.old_log_prob;
  pair.expect_equal(0);
}

TEST(PolicyLaws, TruncationIsNothingWhenTheProximalPolicyDrew) {
  AlgorithmTable truncated = table_of("grpo");
  truncated.truncated_importance_cap = 1.0;
  Pair pair{wide_step(*make_algorithm(table_of("grpo"), 16)), rule_of(truncated), rule_of("grpo")};
  EXPECT_EQ(pair.a.importance.proximal, Proximal::recompute);
  pair.step.proximal = pair.step.old_log_prob;
  pair.expect_equal(0);
}

TEST(PolicyLaws, InterpolationIsPlainForFreshTokensAndRecomputationOfItsAnchorElse) {
  AlgorithmTable table = table_of("decoupled_ppo");
  table.proximal = "interpolate";
  Pair pair{wide_step(*make_algorithm(table, 16)), rule_of(table), rule_of("decoupled_ppo")};
  for (std::size_t i = 0; i < pair.step.experiences.size(); ++i)
    pair.step.proximal[i] = importance_terms(pair.step.terms(i), pair.step.statistics, pair.a.importance).anchor;
  pair.expect_equal(0);
  EXPECT_EQ(pair.step.proximal[7], pair.step.old_log_prob[7]);  // of version 3, which is the policy's
  // One behind: half of the way from the policy that drew to the one now.
  for (std::size_t t = 0; t < pair.step.log_prob[2].size(); ++t) {
    if (pair.step.experiences[2].rollout.trainable[t] == 0) continue;
    EXPECT_NEAR(pair.step.proximal[2][t], (pair.step.old_log_prob[2][t] + pair.step.log_prob[2][t]) / 2, 1e-15);
  }
}

TEST(PolicyLaws, OnPolicyAllPlainRulesHaveOneGradient) {
  const auto at_old = [](PolicyRule rule) {
    WideStep step = wide_step(*make_algorithm(table_of("grpo"), 16));
    step.log_prob = step.proximal = step.old_log_prob;
    rule.aggregation = {AggregationKind::token_mean, 1};
    std::vector<double> gradient;
    for (std::size_t i = 0; i < step.experiences.size(); ++i) {
      const DoubleLoss loss = policy_loss(step.terms(i), step.statistics, rule);
      gradient.insert(gradient.end(), loss.d_log_prob.begin(), loss.d_log_prob.end());
    }
    return gradient;
  };
  AlgorithmTable dual = table_of("grpo");
  dual.dual_clip = 3.0;
  const std::vector<double> plain = at_old(rule_of("grpo"));
  EXPECT_EQ(at_old(rule_of(dual)), plain);
  for (const char* name : {"cispo", "reinforce", "decoupled_ppo", "m2po", "opmd"})
    EXPECT_EQ(at_old(rule_of(name)), plain) << name;
  const std::vector<double> soft = at_old(rule_of("sapo"));
  for (std::size_t t = 0; t < plain.size(); ++t) EXPECT_NEAR(soft[t], plain[t], 1e-15);
}

TEST(PolicyLaws, IcePopDropsTokensAndTheSequenceMaskWholeRollouts) {
  AlgorithmTable table = table_of("grpo");
  table.importance_mask = "token";
  table.importance_low = 0.9;
  table.importance_high = 1.05;
  const WideStep step = wide_step(*make_algorithm(table, 16));
  int dropped = 0, kept = 0;
  for (std::size_t i = 0; i < step.experiences.size(); ++i) {
    const ImportanceTerms tokens = importance_terms(step.terms(i), step.statistics, rule_of(table).importance);
    AlgorithmTable whole = table;
    whole.importance_mask = "sequence";
    const ImportanceTerms sequence = importance_terms(step.terms(i), step.statistics, rule_of(whole).importance);
    double sum = 0, count = 0;
    for (std::size_t t = 0; t < step.log_prob[i].size(); ++t) {
      if (step.experiences[i].rollout.trainable[t] == 0) continue;
      const double raw = std::exp(step.proximal[i][t] - step.old_log_prob[i][t]);
      const bool inside = raw >= 0.9 && raw <= 1.05;
      EXPECT_NEAR(tokens.weight[t], inside ? raw : 0, 1e-14);
      (inside ? kept : dropped) += 1;
      sum += std::log(raw);
      count += 1;
    }
    if (count == 0) continue;
    const double mean = std::exp(sum / count);
    EXPECT_EQ(sequence.masked, mean >= 0.9 && mean <= 1.05 ? 0 : static_cast<std::int64_t>(count));
  }
  EXPECT_GT(dropped, 5);
  EXPECT_GT(kept, 2);
}

TEST(PolicyLaws, TheSecondMomentOfWhatM2poKeepsIsWithinItsThreshold) {
  EXPECT_EQ(largest_square_within(std::vector<double>{}, 0.04), std::numeric_limits<double>::infinity());
  EXPECT_EQ(largest_square_within({0, 0, 0}, 0.0), std::numeric_limits<double>::infinity());
  EXPECT_EQ(largest_square_within({9, 1, 2, 4}, 2.5), 4.0);  // (1 + 2 + 4) / 3 <= 2.5 < (1 + 2 + 4 + 9) / 4
  EXPECT_EQ(largest_square_within({3, 3, 1}, 2.0), 1.0);     // equal ones go together
  EXPECT_EQ(largest_square_within({5, 6}, 2.0), 0.0);        // nothing fits
  const auto algorithm = make_algorithm(table_of("m2po"), 16);
  const WideStep step = wide_step(*algorithm);
  double sum = 0;
  std::int64_t kept = 0, masked = 0;
  for (std::size_t i = 0; i < step.experiences.size(); ++i) {
    const ImportanceTerms terms = importance_terms(step.terms(i), step.statistics, rule_of("m2po").importance);
    masked += terms.masked;
    EXPECT_EQ(terms.anchor, step.old_log_prob[i]);
    for (std::size_t t = 0; t < terms.weight.size(); ++t) {
      if (step.experiences[i].rollout.trainable[t] == 0 || terms.weight[t] == 0) continue;
      sum += std::pow(step.proximal[i][t] - step.old_log_prob[i][t], 2);
      ++kept;
    }
  }
  EXPECT_GT(kept, 0);
  EXPECT_LE(sum / static_cast<double>(kept), 0.04);
  EXPECT_EQ(kept + masked, static_cast<std::int64_t>(step.statistics.tokens));
}

}  // namespace
}  // namespace maxplus
