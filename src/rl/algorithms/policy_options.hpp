#pragma once
// A deck's [algorithm] keys put over a recipe. Keys without a meaning in what results are refused with the reason, all
// of them at once.

#include <cstdint>
#include <memory>

#include "rl/algorithms/policy_gradient.hpp"

namespace maxplus {

// Throws Error(ExitCode::config).
PolicySettings policy_settings(const AlgorithmTable& table, const Recipe& recipe, std::int64_t max_new_tokens);
std::unique_ptr<PolicyGradient> make_policy_gradient(const AlgorithmTable& table, const Recipe& recipe,
                                                     std::int64_t max_new_tokens);

}  // namespace maxplus
