// The algorithms by name. A new one is a file beside this and a line here.
#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/strings.hpp"
#include "deck/tables.hpp"
#include "rl/algorithms/algorithm.hpp"
#include "rl/algorithms/grpo.hpp"
#include "rl/algorithms/sft.hpp"

namespace maxplus {

std::vector<std::string> algorithm_names() {
  std::vector<std::string> names = grpo_names();
  names.emplace_back("sft");
  return names;
}

std::unique_ptr<Algorithm> make_algorithm(const AlgorithmTable& table, std::int64_t max_new_tokens) {
  const std::vector<std::string> of_grpo = grpo_names();
  if (std::find(of_grpo.begin(), of_grpo.end(), table.name) != of_grpo.end()) return make_grpo(table, max_new_tokens);
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
