#include "rl/algorithms/policy_options.hpp"

#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "rl/algorithm_support.hpp"

namespace maxplus {
namespace {

using testing_rl::table_of;

// What is said against a table; "accepted" for none.
std::string refusal(const AlgorithmTable& table) {
  try {
    make_algorithm(table, 16);
  } catch (const Error& error) {
    return error.code() == ExitCode::config ? format_faults(error.faults()) : "wrong code";
  }
  return "accepted";
}

int deviations(const AlgorithmTable& table) {
  int count = 0;
  for (const std::string& line : make_algorithm(table, 100)->describe())
    count += line.find("differs from the paper of " + table.name + ": ") != std::string::npos &&
                     line.find(" (paper: ") != std::string::npos
                 ? 1
                 : 0;
  return count;
}

TEST(PolicyOptions, AreThePapersUnlessSaidOtherwise) {
  // Papers with a KL term differ by kl = none, which is the default everywhere.
  for (const char* name : {"dr_grpo", "dapo", "gspo", "reinforce", "cispo", "sapo", "maxrl", "opmd", "decoupled_ppo",
                           "m2po", "remax", "ppo", "vapo"})
    EXPECT_EQ(deviations(table_of(name)), 0) << name;
  for (const char* name : {"grpo", "rloo", "reinforce_pp", "reinforce_pp_baseline"})
    EXPECT_EQ(deviations(table_of(name)), 1) << name;
  AlgorithmTable table = table_of("grpo");
  table.kl = "k3";
  EXPECT_EQ(deviations(table), 0);
  table.clip_high = 0.3;
  table.std = "none";
  EXPECT_EQ(deviations(table), 2);
  table = table_of("reinforce_pp");
  table.kl = "k1";
  EXPECT_EQ(deviations(table), 0);
}

TEST(PolicyOptions, RefuseUnknownNamesAndChoicesWithTheConfigCode) {
  EXPECT_NE(refusal(table_of("gpro")).find("grpo"), std::string::npos);
  AlgorithmTable table = table_of("grpo");
  table.kl = "k4";
  EXPECT_NE(refusal(table).find("k4"), std::string::npos);
  table = table_of("grpo");
  table.std = "n-2";
  EXPECT_NE(refusal(table).find("n-2"), std::string::npos);
  table = table_of("grpo");
  table.aggregation = "mean";
  EXPECT_NE(refusal(table).find("'mean'"), std::string::npos);
  table = table_of("grpo");
  table.overlong_limit = 10;
  table.overlong_buffer = 11;
  EXPECT_NE(refusal(table).find("overlong_buffer"), std::string::npos);
  table = table_of("grpo");
  table.dual_clip = 0.9;
  EXPECT_NE(refusal(table).find("dual_clip"), std::string::npos);
  for (const std::string& name : algorithm_names()) EXPECT_EQ(refusal(table_of(name)), "accepted");
}

TEST(PolicyOptions, RefuseWhatHasNoMeaningWithTheReason) {
  struct Case {
    const char* name;
    void (*set)(AlgorithmTable&);
    const char* said;
  };
  const Case cases[] = {
      {"reinforce", [](AlgorithmTable& t) { t.clip_low = 0.1; },
       "clip_low = 0.1 has no meaning with name = 'reinforce'"},
      {"maxrl", [](AlgorithmTable& t) { t.ratio = "token"; }, "the loss of this rule has no ratio"},
      {"maxrl", [](AlgorithmTable& t) { t.std = "n"; }, "divided by the group's mean reward"},
      {"remax", [](AlgorithmTable& t) { t.scope = "batch"; }, "that of the greedy answer"},
      {"cispo", [](AlgorithmTable& t) { t.dual_clip = 3; }, "no token loses its gradient"},
      {"sapo", [](AlgorithmTable& t) { t.clip_high = 0.3; }, "not clipped"},
      {"grpo", [](AlgorithmTable& t) { t.sapo_tau_positive = 2; }, "it belongs to sapo"},
      {"grpo", [](AlgorithmTable& t) { t.m2_threshold = 2; }, "it belongs to m2po"},
      {"opmd", [](AlgorithmTable& t) { t.aggregation = "token_mean"; }, "a rollout's tokens are summed"},
      {"opmd", [](AlgorithmTable& t) { t.proximal = "recompute"; }, "to the policy that drew it"},
      {"m2po", [](AlgorithmTable& t) { t.truncated_importance_cap = 2; }, "by the second moment"},
      {"decoupled_ppo", [](AlgorithmTable& t) { t.proximal = "behaviour", t.truncated_importance_cap = 2; },
       "truncated_importance_cap has no effect: proximal = 'behaviour'"},
      {"grpo", [](AlgorithmTable& t) { t.importance_low = 0.7; },
       "importance_low has no effect: importance_mask = 'none'"},
      {"grpo", [](AlgorithmTable& t) { t.aggregation_length = 5; }, "aggregation_length = 5 has no effect"},
      {"dr_grpo", [](AlgorithmTable& t) { t.scope = "batch"; }, "scope = 'batch' has no effect"},
      {"reinforce_pp", [](AlgorithmTable& t) { t.scope = "group"; }, "whitened over the batch"},
  };
  for (const Case& c : cases) {
    AlgorithmTable table = table_of(c.name);
    c.set(table);
    EXPECT_NE(refusal(table).find(c.said), std::string::npos) << refusal(table);
  }
  AlgorithmTable table = table_of("reinforce");  // all at once
  table.clip_low = 0.1;
  table.dual_clip = 3.0;
  table.importance_mask = "sideways";
  for (const char* said : {"clip_low", "dual_clip", "importance_mask = 'sideways' is unknown"})
    EXPECT_NE(refusal(table).find(said), std::string::npos) << said;
}

TEST(PolicyOptions, StandInTheDocumentOfAlgorithms) {
  std::ifstream file(std::string(MAXPLUS_TEST_DATA) + "/../../docs/algorithms.md");
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  for (const std::string& name : algorithm_names())
    EXPECT_NE(text.find("| `" + name + "` |"), std::string::npos) << name;
}

TEST(PolicyOptions, AskForTheProximalPolicyWhereWeightsAreAskedFor) {
  EXPECT_FALSE(make_algorithm(table_of("grpo"), 16)->needs().proximal);
  EXPECT_TRUE(make_algorithm(table_of("decoupled_ppo"), 16)->needs().proximal);
  EXPECT_TRUE(make_algorithm(table_of("m2po"), 16)->needs().proximal);
  AlgorithmTable table = table_of("grpo");
  table.truncated_importance_cap = 2;
  EXPECT_TRUE(make_algorithm(table, 16)->needs().proximal);
  table.proximal = "interpolate";
  EXPECT_FALSE(make_algorithm(table, 16)->needs().proximal);
  EXPECT_TRUE(make_algorithm(table_of("remax"), 16)->needs().greedy_reward);
}

}  // namespace
}  // namespace maxplus
