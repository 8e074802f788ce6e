// Losses and gradients against PyTorch in float64 (tests/data/rl/losses.jsonl): our core in double, and the Algorithm on
// floats. Cases of algorithms that do not exist here are skipped by name; the count at the end says how many were checked.
#include <fstream>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "rl/algorithm_support.hpp"
#include "rl/algorithms/grpo.hpp"

namespace maxplus {
namespace {

constexpr double kDoubleTolerance = 1e-12;  // stated with the golden values
constexpr double kFloatTolerance = 3e-6;    // stated with the golden values, of the largest gradient

std::vector<Json> golden_cases() {
  std::ifstream file(std::string(MAXPLUS_TEST_DATA) + "/rl/losses.jsonl");
  std::vector<Json> cases;
  for (std::string line; std::getline(file, line);) cases.push_back(Json::parse(line));
  return cases;
}

bool covered(const Json& config) {
  const std::string name = config["algorithm"];
  return name == "grpo" || name == "dr_grpo" || name == "dapo" || name == "gspo" || name == "dual_clip" || name == "reinforce_pp";
}

AlgorithmTable table_of_config(const Json& config) {
  AlgorithmTable table;
  const std::string name = config["algorithm"];
  table.name = name == "dual_clip" || name == "reinforce_pp" ? "grpo" : name;
  table.clip_low = config["clip_low"].get<double>();
  table.clip_high = config["clip_high"].get<double>();
  table.ratio = config["ratio_level"].get<std::string>();
  const std::string aggregation = config["aggregation"];
  table.aggregation = aggregation == "constant_length" ? "sequence_sum_constant" : aggregation;
  if (config.contains("constant_length")) table.aggregation_length = config["constant_length"].get<double>();
  if (config.contains("dual_clip")) table.dual_clip = config["dual_clip"].get<double>();
  if (config["kl_in"] == "loss") {
    table.kl = config["kl_estimator"];
    table.kl_coefficient = config["kl_coef"].get<double>();
  }
  return table;
}

template <class Number>
std::vector<Number> part(const Json& list, std::int64_t from, std::int64_t to) {
  std::vector<Number> values;
  for (std::int64_t t = from; t < to; ++t) values.push_back(list[static_cast<std::size_t>(t)].get<Number>());
  return values;
}

struct Sums {
  double loss = 0, policy = 0, kl = 0;
  std::int64_t clipped = 0;
  double tokens = 0;
  std::vector<double> gradient;
  void add(const TokenLoss& l) {
    loss += l.loss;
    policy += l.policy;
    kl += l.kl;
    clipped += l.clipped_low + l.clipped_high;
    tokens += static_cast<double>(l.tokens);
  }
};

template <class Number>
Sums evaluate(const Json& c, const Grpo& algorithm) {
  const std::vector<std::int64_t> offset = c["offsets"];
  StepStatistics statistics;
  statistics.sequences = static_cast<double>(offset.size() - 1);
  for (const int m : c["mask"].get<std::vector<int>>()) statistics.tokens += m;
  Sums sums;
  for (std::size_t i = 0; i + 1 < offset.size(); ++i) {
    const auto log_prob = part<Number>(c["logp_new"], offset[i], offset[i + 1]);
    const auto old = part<Number>(c["logp_old"], offset[i], offset[i + 1]);
    const auto reference = c.contains("logp_ref") ? part<Number>(c["logp_ref"], offset[i], offset[i + 1]) : std::vector<Number>();
    const auto advantage = part<Number>(c["advantage"], offset[i], offset[i + 1]);
    const auto mask = part<std::uint8_t>(c["mask"], offset[i], offset[i + 1]);
    if constexpr (std::is_same_v<Number, double>) {
      const DoubleLoss l = clipped_policy_loss(DoubleTerms{log_prob, {}, old, reference, advantage, mask}, statistics,
                                               algorithm.settings().policy);
      sums.add(l.sums);
      sums.gradient.insert(sums.gradient.end(), l.d_log_prob.begin(), l.d_log_prob.end());
    } else {
      const TokenLoss l = algorithm.loss(TokenTerms{log_prob, {}, old, reference, advantage, mask}, statistics);
      sums.add(l);
      sums.gradient.insert(sums.gradient.end(), l.d_log_prob.begin(), l.d_log_prob.end());
    }
  }
  return sums;
}

void compare(const Json& c, const Sums& ours, double tolerance) {
  EXPECT_NEAR(ours.loss, c["loss"].get<double>(), tolerance);
  EXPECT_NEAR(ours.policy, c["parts"]["policy"].get<double>(), tolerance);
  if (c["parts"].contains("kl")) {
    EXPECT_NEAR(ours.kl, c["parts"]["kl"].get<double>(), tolerance);
  }
  const std::vector<double> expected = c["d_logp_new"];
  ASSERT_EQ(ours.gradient.size(), expected.size());
  double largest = 0;
  for (const double g : expected) largest = std::max(largest, std::abs(g));
  for (std::size_t t = 0; t < expected.size(); ++t) {
    EXPECT_NEAR(ours.gradient[t], expected[t], tolerance * std::max(largest, tolerance)) << "token " << t;
    if (c["mask"][t].get<int>() == 0) {
      EXPECT_EQ(ours.gradient[t], 0.0);
    }
  }
}

TEST(GoldenLoss, AgreesWithPyTorchInDoubleAndInFloat) {
  int checked = 0;
  for (const Json& c : golden_cases()) {
    if (!covered(c["config"])) continue;
    SCOPED_TRACE(c["name"].get<std::string>());
    const Grpo algorithm(grpo_settings(table_of_config(c["config"]), 64), {});
    const Sums wide = evaluate<double>(c, algorithm);
    compare(c, wide, kDoubleTolerance);
    compare(c, evaluate<float>(c, algorithm), kFloatTolerance);
    // The golden fraction leaves the second clip of dual_clip out, ours counts every token that lost its gradient.
    if (c["config"]["algorithm"] != "dual_clip") {
      EXPECT_NEAR(static_cast<double>(wide.clipped) / wide.tokens, c["parts"]["clip_fraction"].get<double>(), kDoubleTolerance);
    }
    ++checked;
  }
  EXPECT_EQ(checked, 6 + 4 + 4 + 4 + 4 + 4 + 3);  // grpo, dr_grpo, dapo, gspo, dual_clip, reinforce_pp, KL estimators
}

TEST(GoldenKl, ValuesAndSlopesAgree) {
  std::ifstream file(std::string(MAXPLUS_TEST_DATA) + "/rl/advantages.jsonl");
  int checked = 0;
  for (std::string line; std::getline(file, line);) {
    const Json c = Json::parse(line);
    if (c["kind"] != "kl") continue;
    SCOPED_TRACE(c["name"].get<std::string>());
    for (const char* name : {"k1", "k2", "k3"}) {
      for (std::size_t t = 0; t < c["logp"].size(); ++t) {
        const KlTerm term = kl_term(kl_estimator_of(name), c["logp"][t], c["logp_ref"][t]);
        EXPECT_NEAR(term.value, c[name][t].get<double>(), kDoubleTolerance * std::max(1.0, term.value));
        EXPECT_NEAR(term.slope, c[std::string("d_") + name][t].get<double>(), kDoubleTolerance * std::max(1.0, std::abs(term.slope)));
      }
    }
    ++checked;
  }
  EXPECT_EQ(checked, 4);
}

}  // namespace
}  // namespace maxplus
