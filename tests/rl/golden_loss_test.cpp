// Losses and gradients against PyTorch in float64 (tests/data/rl/losses.jsonl): our core in double, and the Algorithm
// on floats. Families that are compared elsewhere are named in kElsewhere, so that nothing is left out unseen.
#include <fstream>
#include <map>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "rl/algorithm_support.hpp"

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

const std::set<std::string> kElsewhere = {"dpo", "ipo", "kto"};  // preference_test.cpp

// What a case says, as the keys of a deck.
AlgorithmTable table_of_config(const Json& config) {
  AlgorithmTable table;
  const std::string name = config["algorithm"];
  const bool of_clip = name == "dual_clip" || name == "tis";
  table.name = of_clip ? "grpo" : name == "rloo_clipped_sequence" ? "rloo" : name;
  const auto number = [&config](const char* key) {
    return config.contains(key) && !config[key].is_null() ? std::optional<double>(config[key].get<double>())
                                                          : std::nullopt;
  };
  table.clip_low = number("clip_low");
  table.clip_high = number("clip_high");
  table.dual_clip = number("dual_clip");
  if (number("is_low")) table.clip_low = 1 - *number("is_low");
  if (number("is_high")) table.clip_high = *number("is_high") - 1;
  if (config.contains("ratio_level")) table.ratio = config["ratio_level"].get<std::string>();
  const std::string aggregation = config["aggregation"];
  table.aggregation = aggregation;
  if (aggregation == "constant_length" || aggregation == "sequence_sum") {
    table.aggregation = "sequence_sum_constant";
    table.aggregation_length = number("constant_length").value_or(1);
  }
  if (aggregation == "per_sequence") table.aggregation = "sequence_mean";
  if (config["kl_in"] == "loss") {
    table.kl = config["kl_estimator"];
    table.kl_coefficient = number("kl_coef");
  }
  table.truncated_importance_cap = number("tis_cap");
  if (config.contains("weight_cap_mode") && config["weight_cap_mode"] == "truncate")
    table.truncated_importance_cap = number("weight_cap");
  if (config.contains("weight_cap_mode") && config["weight_cap_mode"] == "mask") {
    table.importance_mask = "token";
    table.importance_low = 0;
    table.importance_high = number("weight_cap");
  }
  table.entropy_coefficient = number("entropy_coef");
  if (config.contains("value_clip")) table.value_clip = number("value_clip").value_or(0);
  table.value_coefficient = number("value_coef");
  return table;
}

template <class Number>
std::vector<Number> part(const Json& list, std::int64_t from, std::int64_t to) {
  std::vector<Number> values;
  for (std::int64_t t = from; t < to; ++t) values.push_back(list[static_cast<std::size_t>(t)].get<Number>());
  return values;
}

struct Sums {
  double loss = 0, policy = 0, kl = 0, value = 0;
  std::int64_t clipped = 0;
  double tokens = 0;
  std::vector<double> gradient, d_entropy, d_value;
  void add(const TokenLoss& l) {
    loss += l.loss;
    policy += l.policy;
    kl += l.kl;
    clipped += l.clipped_low + l.clipped_high;
    tokens += static_cast<double>(l.tokens);
  }
  template <class Loss>
  void add_values(const Loss& l, double coefficient) {
    value += l.loss;
    loss += coefficient * l.loss;
    for (const auto d : l.d_value) d_value.push_back(coefficient * static_cast<double>(d));
  }
  template <class List>
  void add_gradients(const List& d_log_prob, const List& of_entropy) {
    gradient.insert(gradient.end(), d_log_prob.begin(), d_log_prob.end());
    d_entropy.insert(d_entropy.end(), of_entropy.begin(), of_entropy.end());
  }
};

template <class Number>
Sums evaluate(const Json& c, const PolicyGradient& algorithm) {
  const std::vector<std::int64_t> offset = c["offsets"];
  StepStatistics statistics;
  statistics.sequences = static_cast<double>(offset.size() - 1);
  for (const int m : c["mask"].get<std::vector<int>>()) statistics.tokens += m;
  // Where two policies before the present one are told apart: the one that drew, and the proximal one.
  const bool three = c.contains("logp_behaviour");
  const char* const drawn = three ? "logp_behaviour" : "logp_old";
  const char* const proximal = c.contains("logp_proximal") ? "logp_proximal" : "logp_old";
  Sums sums;
  for (std::size_t i = 0; i + 1 < offset.size(); ++i) {
    const auto values = [&](const char* key) {
      return c.contains(key) ? part<Number>(c[key], offset[i], offset[i + 1]) : std::vector<Number>();
    };
    const auto log_prob = values("logp_new"), entropy = values("entropy"), old = values(drawn),
               reference = values("logp_ref"), advantage = values("advantage"),
               anchor = three ? values(proximal) : std::vector<Number>();
    const auto value = values("value"), old_value = values("old_value"), target = values("return");
    const auto mask = part<std::uint8_t>(c["mask"], offset[i], offset[i + 1]);
    if constexpr (std::is_same_v<Number, double>) {
      const DoubleLoss l = policy_loss(DoubleTerms{log_prob, entropy, old, reference, advantage, mask, anchor},
                                       statistics, algorithm.settings().policy);
      sums.add(l.sums);
      sums.add_gradients(l.d_log_prob, l.d_entropy);
      if (!value.empty()) {
        sums.add_values(value_loss(DoubleValueTerms{value, old_value, target, mask}, statistics,
                                   *algorithm.settings().critic, algorithm.settings().policy.aggregation),
                        algorithm.value_coefficient());
      }
    } else {
      const TokenLoss l =
          algorithm.loss(TokenTerms{log_prob, entropy, old, reference, advantage, mask, anchor}, statistics);
      sums.add(l);
      sums.add_gradients(l.d_log_prob, l.d_entropy);
      if (!value.empty())
        sums.add_values(algorithm.value_loss(ValueTerms{value, old_value, target, mask}, statistics),
                        algorithm.value_coefficient());
    }
  }
  return sums;
}

// Largest differences: of values, and of gradients as a share of the largest.
struct Worst {
  double value = 0, gradient = 0;
};

double compare_gradients(const std::vector<double>& ours, const Json& golden, const Json& mask, double tolerance) {
  const std::vector<double> expected = golden;
  EXPECT_EQ(ours.size(), expected.size());
  double largest = 0, worst = 0;
  for (const double g : expected) largest = std::max(largest, std::abs(g));
  const double scale = std::max(largest, tolerance);
  for (std::size_t t = 0; t < expected.size(); ++t) {
    EXPECT_NEAR(ours[t], expected[t], tolerance * scale) << "token " << t;
    if (mask[t].get<int>() == 0) {
      EXPECT_EQ(ours[t], 0.0);
    }
    worst = std::max(worst, std::abs(ours[t] - expected[t]) / scale);
  }
  return worst;
}

Worst compare(const Json& c, const Sums& ours, double tolerance) {
  const Json& parts = c["parts"];
  const double loss = c["loss"];
  if (parts.contains("value")) {
    EXPECT_NEAR(ours.value, parts["value"].get<double>(), tolerance);
  }
  EXPECT_NEAR(ours.loss, loss, tolerance);
  EXPECT_NEAR(ours.policy, parts["policy"].get<double>(), tolerance);
  if (parts.contains("kl")) {
    EXPECT_NEAR(ours.kl, parts["kl"].get<double>(), tolerance);
  }
  Worst worst{std::abs(ours.loss - loss), compare_gradients(ours.gradient, c["d_logp_new"], c["mask"], tolerance)};
  if (c.contains("d_value"))
    worst.gradient = std::max(worst.gradient, compare_gradients(ours.d_value, c["d_value"], c["mask"], tolerance));
  if (c.contains("d_entropy"))
    worst.gradient = std::max(worst.gradient, compare_gradients(ours.d_entropy, c["d_entropy"], c["mask"], tolerance));
  return worst;
}

TEST(GoldenLoss, AgreesWithPyTorchInDoubleAndInFloat) {
  std::map<std::string, int> checked, elsewhere;
  std::map<std::string, Worst> worst;
  for (const Json& c : golden_cases()) {
    const std::string family = c["config"]["algorithm"];
    if (kElsewhere.count(family) > 0) {
      ++elsewhere[family];
      continue;
    }
    SCOPED_TRACE(c["name"].get<std::string>());
    const AlgorithmTable table = table_of_config(c["config"]);
    const auto algorithm = make_policy_gradient(table, *find_recipe(table.name, 64), 64);
    const Sums wide = evaluate<double>(c, *algorithm);
    const Worst now = compare(c, wide, kDoubleTolerance);
    worst[family].value = std::max(worst[family].value, now.value);
    worst[family].gradient = std::max(worst[family].gradient, now.gradient);
    compare(c, evaluate<float>(c, *algorithm), kFloatTolerance);
    // The golden fraction leaves the second clip of dual_clip out, ours counts every token that lost its gradient.
    if (family != "dual_clip" && c["parts"].contains("clip_fraction")) {
      EXPECT_NEAR(static_cast<double>(wide.clipped) / wide.tokens, c["parts"]["clip_fraction"].get<double>(),
                  kDoubleTolerance);
    }
    ++checked[family];
  }
  for (const auto& [family, differences] : worst) {
    RecordProperty(family, fmt::format("{} cases, value {:.1e}, gradient {:.1e}", checked[family], differences.value,
                                       differences.gradient));
  }
  const std::map<std::string, int> all = {
      {"ppo", 6},       {"grpo", 9},         {"dr_grpo", 4}, {"dapo", 4},
      {"gspo", 4},      {"cispo", 4},        {"rloo", 2},    {"rloo_clipped_sequence", 2},
      {"dual_clip", 4}, {"reinforce_pp", 4}, {"tis", 4},     {"decoupled_ppo", 4}};
  EXPECT_EQ(checked, all);  // grpo: its own 6 and the 3 of the KL estimators
  EXPECT_EQ(elsewhere, (std::map<std::string, int>{{"dpo", 4}, {"ipo", 3}, {"kto", 3}}));
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
        EXPECT_NEAR(term.slope, c[std::string("d_") + name][t].get<double>(),
                    kDoubleTolerance * std::max(1.0, std::abs(term.slope)));
      }
    }
    ++checked;
  }
  EXPECT_EQ(checked, 4);
}

}  // namespace
}  // namespace maxplus
