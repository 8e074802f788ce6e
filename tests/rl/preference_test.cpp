// Losses of whole answers against PyTorch, against finite differences, and their laws.
#include "rl/algorithms/preference.hpp"

#include <cmath>
#include <fstream>
#include <functional>
#include <map>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "rl/algorithm_support.hpp"

namespace maxplus {
namespace {

using testing_rl::rollout;
using testing_rl::table_of;
using testing_rl::terms_of;

constexpr double kAnswerTolerance = 1e-12;      // stated with the golden values
constexpr double kAnswerFloatTolerance = 3e-6;  // stated with the golden values, of the largest gradient

std::vector<Json> golden_preferences() {
  std::ifstream file(std::string(MAXPLUS_TEST_DATA) + "/rl/losses.jsonl");
  std::vector<Json> cases;
  for (std::string line; std::getline(file, line);) {
    Json c = Json::parse(line);
    const std::string family = c["config"]["algorithm"];
    if (family == "dpo" || family == "ipo" || family == "kto") cases.push_back(std::move(c));
  }
  return cases;
}

AlgorithmTable table_of_preference(const Json& config) {
  AlgorithmTable table = table_of(config["algorithm"]);
  table.beta = config["beta"].get<double>();
  if (config.contains("label_smoothing")) table.label_smoothing = config["label_smoothing"].get<double>();
  if (config.contains("length")) table.length_mean = config["length"] == "token_mean";
  if (config.contains("weight_desirable")) {
    table.desirable_weight = config["weight_desirable"].get<double>();
    table.undesirable_weight = config["weight_undesirable"].get<double>();
  }
  return table;
}

struct Case {
  std::vector<std::int64_t> offset;
  std::vector<double> mask, now, reference, expected;
  bool marked(const Json& c, std::size_t i) const {
    return c.contains("desirable") ? c["desirable"][i].get<double>() > 0 : i % 2 == 0;
  }
};

// Loss, and the gradient of each token, by the functions in double.
std::pair<double, std::vector<double>> in_double(const Json& c, const Case& k, const PreferenceRule& rule) {
  const std::size_t answers = k.offset.size() - 1;
  std::vector<AnswerSum> sums(answers);
  for (std::size_t i = 0; i < answers; ++i) {
    for (auto t = static_cast<std::size_t>(k.offset[i]); t < static_cast<std::size_t>(k.offset[i + 1]); ++t) {
      if (k.mask[t] == 0) continue;
      sums[i].sum += k.now[t] - k.reference[t];
      sums[i].tokens += 1;
    }
  }
  double loss = 0;
  std::vector<double> slope(answers);
  if (rule.of_pairs()) {
    const double pairs = static_cast<double>(answers) / 2;
    for (std::size_t i = 0; i < answers; i += 2) {
      const PairLoss pair = pair_loss(sums[i], sums[i + 1], rule);
      loss += pair.value / pairs;
      slope[i] = pair.by_chosen / pairs, slope[i + 1] = pair.by_rejected / pairs;
    }
  } else {
    for (std::size_t i = 0; i < answers; ++i) {
      const MarkedLoss marked = marked_loss(sums[i], k.marked(c, i), c["config"]["reference_point"], rule);
      loss += marked.value / static_cast<double>(answers);
      slope[i] = marked.slope / static_cast<double>(answers);
    }
  }
  std::vector<double> gradient(k.now.size(), 0.0);
  for (std::size_t i = 0; i < answers; ++i) {
    for (auto t = static_cast<std::size_t>(k.offset[i]); t < static_cast<std::size_t>(k.offset[i + 1]); ++t) {
      if (k.mask[t] != 0) gradient[t] = slope[i];
    }
  }
  return {loss, gradient};
}

// The same by the Algorithm on floats; a pair is a group.
std::pair<double, std::vector<double>> in_float(const Json& c, const Case& k, const Preference& rule) {
  std::vector<Experience> answers;
  std::vector<std::vector<float>> now;
  for (std::size_t i = 0; i + 1 < k.offset.size(); ++i) {
    Experience e;
    std::vector<float> log_prob;
    for (auto t = static_cast<std::size_t>(k.offset[i]); t < static_cast<std::size_t>(k.offset[i + 1]); ++t) {
      e.rollout.token.push_back(1);
      e.rollout.trainable.push_back(k.mask[t] != 0 ? 1 : 0);
      e.assessment.reference_log_prob.push_back(static_cast<float>(k.reference[t]));
      log_prob.push_back(static_cast<float>(k.now[t]));
    }
    e.rollout.group = rule.joins_groups() ? static_cast<std::int64_t>(i / 2) : static_cast<std::int64_t>(i);
    e.assessment.reward = k.marked(c, i) ? 1.0f : 0.0f;
    e.assessment.verdict = Verdict::correct;
    answers.push_back(std::move(e));
    now.push_back(std::move(log_prob));
  }
  rule.fill_advantages(answers);
  StepStatistics statistics;
  statistics.sequences = static_cast<double>(answers.size());
  if (!rule.joins_groups()) statistics.reference_point = c["config"]["reference_point"];
  double loss = 0;
  std::vector<double> gradient;
  const std::size_t size = rule.joins_groups() ? 2 : 1;
  for (std::size_t i = 0; i < answers.size(); i += size) {
    std::vector<TokenTerms> members;
    for (std::size_t j = i; j < i + size; ++j) members.push_back(terms_of(answers[j], now[j], {}));
    for (const TokenLoss& l : rule.group_loss(members, statistics)) {
      loss += l.loss;
      gradient.insert(gradient.end(), l.d_log_prob.begin(), l.d_log_prob.end());
    }
  }
  return {loss, gradient};
}

void compare(const std::pair<double, std::vector<double>>& ours, const Json& c, double tolerance) {
  const double loss = c["loss"];
  EXPECT_NEAR(ours.first, loss, tolerance * std::max(1.0, std::abs(loss)));
  const std::vector<double> expected = c["d_logp_new"];
  ASSERT_EQ(ours.second.size(), expected.size());
  double largest = 0;
  for (const double g : expected) largest = std::max(largest, std::abs(g));
  for (std::size_t t = 0; t < expected.size(); ++t) {
    EXPECT_NEAR(ours.second[t], expected[t], tolerance * std::max(largest, tolerance)) << "token " << t;
    if (c["mask"][t].get<double>() == 0) {
      EXPECT_EQ(ours.second[t], 0.0);
    }
  }
}

TEST(Preference, AgreesWithPyTorchInDoubleAndInFloat) {
  std::map<std::string, int> checked;
  for (const Json& c : golden_preferences()) {
    SCOPED_TRACE(c["name"].get<std::string>());
    const Case k{c["offsets"], c["mask"], c["logp_new"], c["logp_ref"], {}};
    const auto rule = make_preference(table_of_preference(c["config"]));
    compare(in_double(c, k, rule->settings().rule), c, kAnswerTolerance);
    compare(in_float(c, k, *rule), c, kAnswerFloatTolerance);
    ++checked[c["config"]["algorithm"].get<std::string>()];
  }
  EXPECT_EQ(checked, (std::map<std::string, int>{{"dpo", 4}, {"ipo", 3}, {"kto", 3}}));
}

std::vector<PreferenceRule> pair_rules() {
  std::vector<PreferenceRule> rules;
  for (const std::string& name : preference_names()) {
    if (preference_defaults(name)->rule.of_pairs()) rules.push_back(preference_defaults(name)->rule);
  }
  rules.front().label_smoothing = 0.2;
  rules.push_back(rules[1]);
  rules.back().mean_over_tokens = false;
  rules.push_back(preference_defaults("reward_model")->rule);
  rules.back().margin = 0.7;
  rules.back().label_smoothing = 0.1;
  return rules;
}

double slope_of(const std::function<double(double)>& f, double at) { return (f(at + 1e-5) - f(at - 1e-5)) / 2e-5; }

TEST(Preference, GradientsAreFiniteDifferences) {
  for (const PreferenceRule& rule : pair_rules()) {
    SCOPED_TRACE(rule.describe());
    for (const auto& [chosen, rejected] : {std::pair(AnswerSum{-3.1, 5}, AnswerSum{-7.3, 2}),
                                           {AnswerSum{-0.7, 1}, AnswerSum{-0.2, 3}},
                                           {AnswerSum{-20, 7}, AnswerSum{-1, 7}}}) {
      const PairLoss loss = pair_loss(chosen, rejected, rule);
      const auto by_chosen = [&](double s) { return pair_loss({s, chosen.tokens}, rejected, rule).value; };
      const auto by_rejected = [&](double s) { return pair_loss(chosen, {s, rejected.tokens}, rule).value; };
      EXPECT_NEAR(loss.by_chosen, slope_of(by_chosen, chosen.sum), 1e-7 * std::max(1.0, std::abs(loss.by_chosen)));
      EXPECT_NEAR(loss.by_rejected, slope_of(by_rejected, rejected.sum),
                  1e-7 * std::max(1.0, std::abs(loss.by_rejected)));
      EXPECT_EQ(loss.margin > 0, worth_of(chosen, rule) > worth_of(rejected, rule));
    }
  }
  PreferenceRule kto;
  kto.loss = PreferenceLoss::kto;
  kto.bad_weight = 1.3;
  for (const bool good : {true, false}) {
    const auto value = [&](double s) { return marked_loss({s, 4}, good, 0.3, kto).value; };
    EXPECT_NEAR(marked_loss({-1.2, 4}, good, 0.3, kto).slope, slope_of(value, -1.2), 1e-9);
  }
}

TEST(Preference, AtTheReferenceTheLossIsLogTwoAndTheGradientHalfBeta) {
  std::vector<Experience> pair = {rollout(1, 1, 5, 31), rollout(1, 0, 3, 32)};
  const auto rule = make_preference(table_of("dpo"));
  rule->fill_advantages(pair);
  std::vector<TokenTerms> members;
  for (const Experience& e : pair) members.push_back(terms_of(e, e.assessment.reference_log_prob, {}));
  const StepStatistics statistics = rule->prepare(testing_rl::pointers(pair));
  const std::vector<TokenLoss> loss = rule->group_loss(members, statistics);
  EXPECT_DOUBLE_EQ(loss[0].loss + loss[1].loss, std::log(2.0));
  for (std::size_t i = 0; i < 2; ++i) {
    for (std::size_t t = 0; t < pair[i].rollout.token.size(); ++t) {
      const float expected = pair[i].rollout.trainable[t] == 0 ? 0.0f : i == 0 ? -0.05f : 0.05f;
      EXPECT_FLOAT_EQ(loss[i].d_log_prob[t], expected);
    }
  }
  EXPECT_EQ(loss[0].pairs, 1);
  EXPECT_EQ(loss[0].pairs_right, 0) << "equal is not right";
}

// sigmoid(2) by hand; everything but the last place is left alone.
TEST(Preference, AScoreIsComparedBehindTheLastToken) {
  std::vector<Experience> pair = {rollout(1, 0, 3, 1), rollout(1, 1, 2, 2)};
  for (Experience& e : pair) e.rollout.trainable.assign(e.rollout.token.size(), 1);
  const auto rule = make_preference(table_of("reward_model"));
  rule->fill_advantages(pair);
  const std::vector<float> of_rejected = {9, 9, 9, 0.5f}, of_chosen = {-9, -9, 2.5f};
  std::vector<TokenTerms> members(2);
  for (std::size_t i = 0; i < 2; ++i)
    members[i].advantage = pair[i].advantage, members[i].trainable = pair[i].rollout.trainable;
  members[0].value = of_rejected, members[1].value = of_chosen;
  const std::vector<TokenLoss> loss = rule->group_loss(members, rule->prepare(testing_rl::pointers(pair)));
  EXPECT_DOUBLE_EQ(loss[1].loss, std::log1p(std::exp(-2.0)));
  EXPECT_EQ(loss[0].loss, 0);
  const auto slope = static_cast<float>(1 / (1 + std::exp(2.0)));
  EXPECT_EQ(loss[0].d_value, (std::vector<float>{0, 0, 0, slope}));
  EXPECT_EQ(loss[1].d_value, (std::vector<float>{0, 0, -slope}));
  EXPECT_EQ(loss[1].pairs_right, 1);
  EXPECT_DOUBLE_EQ(rule->worth(members[1]), 2.5);
}

TEST(Preference, APairIsTheBestAndTheWorstOfAGroupAndEqualRewardsTeachNothing) {
  std::vector<Experience> list = {rollout(1, 0.5f, 4, 1), rollout(1, 1, 4, 2), rollout(1, 0, 4, 3),
                                  rollout(1, 1, 4, 4),    rollout(2, 1, 4, 5), rollout(2, 1, 4, 6)};
  for (Experience& e : list) e.rollout.trainable.assign(4, 1);
  list[2].assessment.verdict = Verdict::crashed;  // ours, not the answer's fault: 0.5 is the worst
  const auto rule = make_preference(table_of("online_dpo"));
  rule->fill_advantages(list);
  std::vector<float> marks;
  for (const Experience& e : list) marks.push_back(e.advantage[0]);
  EXPECT_EQ(marks, (std::vector<float>{-1, 1, 0, 0, 0, 0}));
  EXPECT_TRUE(rule->takes_part(list[1]));
  EXPECT_FALSE(rule->takes_part(list[4]));
}

TEST(Preference, KeysOfOtherRulesAreRefusedTogether) {
  AlgorithmTable table = table_of("simpo");
  table.clip_low = 0.2;
  table.label_smoothing = 0.1;
  table.kl = "k3";
  try {
    make_preference(table);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::config);
    EXPECT_EQ(error.faults().size(), 3u);
  }
  table = table_of("grpo");
  table.beta = 0.1;
  EXPECT_THROW(make_algorithm(table, 64), Error);
}

}  // namespace
}  // namespace maxplus
