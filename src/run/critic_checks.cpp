#include "run/critic_checks.hpp"

#include <string>
#include <utility>

#include <fmt/format.h>

namespace maxplus {

namespace {

// What a critic that shares the policy's network leaves without a use.
void check_shared(const Deck& deck, const Algorithm& algorithm, std::vector<Fault>& faults) {
  const CriticTable& c = *deck.critic;
  const std::pair<const char*, bool> own_keys[] = {{"path", c.path != "policy"},
                                                   {"learning_rate", c.learning_rate.has_value()},
                                                   {"warmup_steps", c.warmup_steps.has_value()},
                                                   {"weight_decay", c.weight_decay.has_value()},
                                                   {"gradient_clip", c.gradient_clip.has_value()}};
  for (const auto& [key, differs] : own_keys) {
    if (!differs) continue;
    faults.push_back({deck.where(std::string("critic.") + key),
                      fmt::format("[critic] {} has no effect with shared = true", key),
                      "the policy's network and its [optimizer]", fmt::format("remove {}, or shared = false", key)});
  }
  if (algorithm.value_iterations() > 0) {
    faults.push_back({deck.where("critic.shared"),
                      fmt::format("[critic] shared = true, but the critic is to learn alone for {} iterations",
                                  algorithm.value_iterations()),
                      "a critic with a network of its own, or no such iterations", "[algorithm] value_iterations = 0"});
  }
}

}  // namespace

void check_critic(const Deck& deck, const Algorithm& algorithm, std::vector<Fault>& faults) {
  const std::string& name = deck.algorithm.name;
  const bool needed = algorithm.needs().critic;
  if (needed && !deck.critic) {
    faults.push_back({deck.where("algorithm.name"),
                      fmt::format("[algorithm] name = \"{}\" needs a critic, and there is no [critic]", name),
                      "[critic]; its network starts from the policy unless path names another",
                      "[critic], or name = \"grpo\""});
  } else if (!needed && deck.critic) {
    faults.push_back({deck.where("critic"), fmt::format("[critic] has no effect: algorithm '{}' has no values", name),
                      "name = \"ppo\" or \"vapo\"", "remove [critic]"});
  } else if (needed && deck.critic->shared) {
    check_shared(deck, algorithm, faults);
  } else if (needed && deck.algorithm.value_coefficient) {
    faults.push_back({deck.where("algorithm.value_coefficient"),
                      "[algorithm] value_coefficient has no effect: the critic has a network of its own",
                      "[critic] shared = true", "remove it; the critic's pace is [critic] learning_rate"});
  }
}

}  // namespace maxplus
