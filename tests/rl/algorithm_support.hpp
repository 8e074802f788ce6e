#pragma once
// Seeded rollouts and decks for the tests of the learning rules.

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "deck/tables.hpp"
#include "rl/algorithms/algorithm.hpp"

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

}  // namespace maxplus::testing_rl
