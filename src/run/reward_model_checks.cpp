#include "run/reward_model_checks.hpp"

#include <string>
#include <utility>

#include <fmt/format.h>

namespace maxplus {

namespace {

void check_table(const Deck& deck, std::vector<Fault>& faults) {
  const RewardModelTable& table = *deck.reward_model;
  const auto add = [&](const std::string& key, std::string found, std::string expected, std::string advice) {
    faults.push_back({deck.where("reward_model." + key), std::move(found), std::move(expected), std::move(advice)});
  };
  if (learns_from_answers(deck.algorithm)) {
    add("path",
        fmt::format("[reward_model] has no effect: algorithm '{}' learns from answers in a file", deck.algorithm.name),
        "an algorithm that draws answers", "remove [reward_model]");
    return;
  }
  if (table.path.empty()) {
    add("path", "[reward_model] has no path", "path = a classifier with one label",
        "train one on pairs: [algorithm] name = \"reward_model\"");
  }
  const RewardModelTable none;
  const std::pair<const char*, bool> of_steps[] = {{"step_mark", table.step_mark != none.step_mark},
                                                   {"combine", table.combine != none.combine}};
  for (const auto& [key, differs] : of_steps) {
    if (!differs || table.at == "steps") continue;
    add(key, fmt::format("[reward_model] {} has no effect with at = \"answer\"", key), "at = \"steps\"",
        fmt::format("remove {}, or at = \"steps\"", key));
  }
  if (table.step_mark.empty() && table.at == "steps")
    add("step_mark", "[reward_model] step_mark is empty", "the text that ends a step", "step_mark = \"\\n\\n\"");
  const bool judged = !deck.data.task.empty() || !deck.reward.verifier.empty() || !deck.reward.part.empty() ||
                      deck.origins.contains("reward");
  if (!judged && !deck.data.eval.empty() && deck.eval.every > 0) {
    faults.push_back({deck.where("data.eval"),
                      "[data] eval asks for accuracy, and there is no judge beside [reward_model]",
                      "[reward] with a verifier, or no held-out problems", "[eval] every = 0"});
  }
}

// The network being trained gives scores instead of tokens: what needs tokens has nothing to work on.
void check_training(const Deck& deck, std::vector<Fault>& faults) {
  const std::pair<const char*, bool> tables[] = {{"warm_start", deck.warm_start && deck.warm_start->steps > 0},
                                                 {"reference", deck.reference.has_value()}};
  for (const auto& [name, there] : tables) {
    if (!there) continue;
    faults.push_back({deck.where(name),
                      fmt::format("[{}] has no meaning with name = \"reward_model\": its network scores answers and "
                                  "gives no tokens",
                                  name),
                      "a deck of [model], [data] with pairs, [optimizer]", fmt::format("remove [{}]", name)});
  }
}

}  // namespace

void check_reward_model(const Deck& deck, const Algorithm& algorithm, std::vector<Fault>& faults) {
  if (deck.reward_model) check_table(deck, faults);
  if (algorithm.needs().answer_score) check_training(deck, faults);
}

}  // namespace maxplus
