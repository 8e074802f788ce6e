#pragma once
// Seeded rollouts and decks for the tests of the learning rules.

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "deck/tables.hpp"
#include "rl/algorithms/policy_options.hpp"

namespace maxplus::testing_rl {

inline double draw(std::uint64_t a, std::uint64_t b) { return uniform_double(7, Purpose::test, a, b); }

// A rollout of odd length whose values differ from token to token.
inline Experience rollout(std::int64_t group, float reward, std::int64_t tokens, std::uint64_t seed) {
  Experience e;
  e.problem.prompt = {1, 2, 3};
  e.rollout.group = group;
  e.rollout.id = {1, 0, static_cast<std::uint32_t>(group), static_cast<std::uint32_t>(seed % 1000)};
  e.assessment.reward = reward;
  e.assessment.verdict = reward > 0 ? Verdict::correct : Verdict::wrong;
  for (std::int64_t t = 0; t < tokens; ++t) {
    const auto u = static_cast<std::uint64_t>(t);
    e.rollout.token.push_back(static_cast<std::int32_t>(3 + t % 5));
    e.rollout.log_prob.push_back(static_cast<float>(-2 * draw(seed, 4 * u)));
    e.rollout.version.push_back(0);
    e.rollout.trainable.push_back(draw(seed, 4 * u + 1) < 0.75 ? 1 : 0);
    e.assessment.reference_log_prob.push_back(static_cast<float>(-2 * draw(seed, 4 * u + 2)));
    e.assessment.value.push_back(static_cast<float>(draw(seed, 4 * u + 3)));
  }
  return e;
}

inline AlgorithmTable table_of(const std::string& name) {
  AlgorithmTable table;
  table.name = name;
  return table;
}

inline std::vector<const Experience*> pointers(const std::vector<Experience>& experiences) {
  std::vector<const Experience*> list;
  for (const Experience& e : experiences) list.push_back(&e);
  return list;
}

// The policy has moved a little since the rollouts were drawn.
inline std::vector<float> moved(const Experience& e, double by, std::uint64_t seed) {
  std::vector<float> log_prob;
  for (std::size_t t = 0; t < e.rollout.log_prob.size(); ++t) {
    log_prob.push_back(e.rollout.log_prob[t] + static_cast<float>(by * (draw(seed, t) - 0.5)));
  }
  return log_prob;
}

inline TokenTerms terms_of(const Experience& e, const std::vector<float>& log_prob, const std::vector<float>& entropy) {
  return {log_prob,
          entropy,
          e.rollout.log_prob,
          e.assessment.reference_log_prob,
          e.advantage,
          e.rollout.trainable,
          e.proximal_log_prob,
          e.rollout.version,
          3,
          e.assessment.verdict == Verdict::correct};
}

// Group 2 with mixed rewards, group 7 with equal ones; lengths 1 to 7, one fully masked, drawn with different versions.
// The proximal policy is the one that drew them.
inline std::vector<Experience> two_groups() {
  std::vector<Experience> list;
  for (std::uint64_t i = 0; i < 5; ++i)
    list.push_back(rollout(2, i % 2 == 0 ? 1.0f : 0.0f, 3 + static_cast<std::int64_t>(i), 10 + i));
  for (std::uint64_t i = 0; i < 5; ++i) list.push_back(rollout(7, 0.1f, 1 + static_cast<std::int64_t>(i), 20 + i));
  list[3].rollout.trainable.assign(list[3].rollout.trainable.size(), 0);
  for (std::size_t i = 0; i < list.size(); ++i) {
    list[i].rollout.version.assign(list[i].rollout.token.size(), static_cast<std::int32_t>(i % 4));
    list[i].proximal_log_prob = list[i].rollout.log_prob;
    list[i].assessment.greedy_reward = list[i].rollout.group == 2 ? 0.25f : 0.1f;
  }
  return list;
}

// Every policy-gradient rule by its name, and combinations of their keys.
inline std::vector<AlgorithmTable> many_tables() {
  std::vector<AlgorithmTable> tables;
  for (const std::string& name : recipe_names()) tables.push_back(table_of(name));
  for (const char* kl : {"k1", "k2", "k3"}) {
    AlgorithmTable t = table_of("grpo");
    t.kl = kl;
    t.kl_coefficient = 0.3;
    t.entropy_coefficient = 0.05;
    t.ratio = "sequence";
    tables.push_back(t);
    t.ratio = "token";
    t.dual_clip = 1.5;
    t.aggregation = "token_mean";
    tables.push_back(t);
  }
  const auto with = [&tables](const char* name, const auto& set) {
    AlgorithmTable t = table_of(name);
    set(t);
    tables.push_back(t);
  };
  with("grpo", [](AlgorithmTable& t) { t.truncated_importance_cap = 1.2; });
  with("dapo", [](AlgorithmTable& t) { t.importance_mask = "token", t.importance_low = 0.8, t.importance_high = 1.3; });
  with("gspo",
       [](AlgorithmTable& t) { t.importance_mask = "sequence", t.importance_low = 0.9, t.importance_high = 1.1; });
  with("decoupled_ppo", [](AlgorithmTable& t) { t.proximal = "behaviour"; });
  with("decoupled_ppo", [](AlgorithmTable& t) { t.proximal = "interpolate"; });
  with("reinforce", [](AlgorithmTable& t) { t.proximal = "recompute", t.truncated_importance_cap = 2; });
  with("cispo", [](AlgorithmTable& t) { t.clip_low = 0.2, t.clip_high = 0.1; });
  with("rloo", [](AlgorithmTable& t) { t.ratio = "sequence_sum"; });
  with("sapo", [](AlgorithmTable& t) { t.ratio = "sequence", t.sapo_tau_negative = 2; });
  with("opmd", [](AlgorithmTable& t) { t.opmd_tau = 0.3, t.aggregation_length = 5; });
  with("m2po", [](AlgorithmTable& t) { t.m2_threshold = 0.004; });
  with("ppo", [](AlgorithmTable& t) { t.kl = "k1", t.gamma = 0.9, t.lambda = 0.8, t.dual_clip = 3; });
  with("vapo", [](AlgorithmTable& t) { t.positive_coefficient = 0.7, t.aggregation = "sequence_mean"; });
  with("reinforce_pp", [](AlgorithmTable& t) { t.kl = "k1", t.kl_coefficient = 0.1; });
  return tables;
}

inline std::string text_of(const AlgorithmTable& t) {
  return t.name + " kl " + t.kl + " ratio " + t.ratio.value_or("-") + " proximal " + t.proximal.value_or("-") +
         " mask " + t.importance_mask.value_or("-");
}

inline PolicySettings settings_of(const AlgorithmTable& table) {
  return policy_settings(table, *find_recipe(table.name, 16), 16);
}

// A step in double: what the loss is made of, and each rollout's own values, which may be moved.
struct WideStep {
  std::vector<Experience> experiences;
  std::vector<std::vector<double>> log_prob, entropy, old_log_prob, reference, advantage, proximal;
  StepStatistics statistics;

  DoubleTerms terms(std::size_t i) const {
    return {log_prob[i],
            entropy[i],
            old_log_prob[i],
            reference[i],
            advantage[i],
            experiences[i].rollout.trainable,
            proximal[i],
            experiences[i].rollout.version,
            3,
            experiences[i].assessment.verdict == Verdict::correct};
  }
  double loss(const PolicyRule& rule) const {
    double sum = 0;
    for (std::size_t i = 0; i < experiences.size(); ++i) sum += policy_loss(terms(i), statistics, rule).sums.loss;
    return sum;
  }
};

inline std::vector<double> widened(const std::vector<float>& values) { return {values.begin(), values.end()}; }

inline WideStep wide_step(const Algorithm& algorithm) {
  WideStep step;
  step.experiences = two_groups();
  for (std::size_t i = 0; i < step.experiences.size(); ++i)
    step.experiences[i].proximal_log_prob = moved(step.experiences[i], 0.6, 300 + i);
  algorithm.fill_advantages(step.experiences);
  step.statistics = algorithm.prepare(pointers(step.experiences));
  for (std::size_t i = 0; i < step.experiences.size(); ++i) {
    const Experience& e = step.experiences[i];
    step.log_prob.push_back(widened(moved(e, 1.2, 100 + i)));
    step.entropy.push_back(widened(moved(e, 1.0, 200 + i)));
    step.old_log_prob.push_back(widened(e.rollout.log_prob));
    step.reference.push_back(widened(e.assessment.reference_log_prob));
    step.advantage.push_back(widened(e.advantage));
    step.proximal.push_back(widened(e.proximal_log_prob));
  }
  return step;
}

}  // namespace maxplus::testing_rl
