// The algorithms by name: the policy-gradient rules (recipe.cpp) and those that are classes of their own.
#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/strings.hpp"
#include "deck/tables.hpp"
#include "rl/algorithms/algorithm.hpp"
#include "rl/algorithms/policy_options.hpp"
#include "rl/algorithms/sft.hpp"

namespace maxplus {

std::vector<std::string> algorithm_names() {
  std::vector<std::string> names = recipe_names();
  names.emplace_back("sft");
  return names;
}

std::unique_ptr<Algorithm> make_algorithm(const AlgorithmTable& table, std::int64_t max_new_tokens) {
  if (const std::optional<Recipe> recipe = find_recipe(table.name, max_new_tokens))
    return make_policy_gradient(table, *recipe, max_new_tokens);
  if (table.name == "sft") return std::make_unique<Sft>();
  const std::vector<std::string> known = algorithm_names();
  throw Error(
      ExitCode::config,
      Fault{"", fmt::format("[algorithm] name = '{}' is unknown{}", table.name, did_you_mean(table.name, known)),
            "one of " + join(known, ", "), ""});
}

bool wants_dynamic_sampling(const AlgorithmTable& table) {
  return table.dynamic_sampling.value_or(table.name == "dapo");
}

}  // namespace maxplus
