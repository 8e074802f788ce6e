// The algorithms by name: the policy-gradient rules (recipe.cpp), those of preferences, and those that are classes of
// their own.
#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/strings.hpp"
#include "deck/tables.hpp"
#include "rl/algorithms/algorithm.hpp"
#include "rl/algorithms/given_keys.hpp"
#include "rl/algorithms/policy_options.hpp"
#include "rl/algorithms/preference.hpp"
#include "rl/algorithms/sft.hpp"

namespace maxplus {

ValueLoss Algorithm::value_loss(const ValueTerms&, const StepStatistics&) const {
  MAXPLUS_REQUIRE(false, "this rule has no critic");
}

std::vector<std::string> algorithm_names() {
  std::vector<std::string> names = recipe_names();
  names.emplace_back("sft");
  for (std::string& name : preference_names()) names.push_back(std::move(name));
  return names;
}

bool learns_from_answers(const AlgorithmTable& table) {
  const std::optional<PreferenceSettings> settings = preference_defaults(table.name);
  return settings && !settings->online;
}

bool joins_groups(const AlgorithmTable& table) {
  const std::optional<PreferenceSettings> settings = preference_defaults(table.name);
  return settings && settings->rule.of_pairs();
}

std::vector<TokenLoss> Algorithm::group_loss(std::span<const TokenTerms> members,
                                             const StepStatistics& statistics) const {
  std::vector<TokenLoss> losses;
  losses.reserve(members.size());
  for (const TokenTerms& terms : members) losses.push_back(loss(terms, statistics));
  return losses;
}

namespace {

std::unique_ptr<Algorithm> make_sft(const AlgorithmTable& table) {
  std::vector<Fault> faults;
  for (const GivenKey& key : given_keys(table)) {
    if (key.name == "rejection") continue;
    faults.push_back({"",
                      fmt::format("[algorithm] {} = {} has no meaning with name = 'sft', which imitates answers",
                                  key.name, key.value),
                      "its own key: rejection", "remove " + key.name});
  }
  if (!faults.empty()) throw Error(ExitCode::config, std::move(faults));
  return std::make_unique<Sft>(table.rejection.value_or(false) ? Sft::Imitate::rewarded : Sft::Imitate::all);
}

}  // namespace

std::unique_ptr<Algorithm> make_algorithm(const AlgorithmTable& table, std::int64_t max_new_tokens) {
  if (const std::optional<Recipe> recipe = find_recipe(table.name, max_new_tokens))
    return make_policy_gradient(table, *recipe, max_new_tokens);
  if (table.name == "sft") return make_sft(table);
  if (preference_defaults(table.name)) return make_preference(table);
  const std::vector<std::string> known = algorithm_names();
  throw Error(ExitCode::config, Fault{"",
                                      fmt::format("[algorithm] name = {} is unknown{}", quote(shorten(table.name, 60)),
                                                  did_you_mean(table.name, known)),
                                      "one of " + join(known, ", "), ""});
}

bool wants_dynamic_sampling(const AlgorithmTable& table) {
  return table.dynamic_sampling.value_or(table.name == "dapo");
}

}  // namespace maxplus
