#include "run/long_tail_checks.hpp"

#include <fmt/format.h>

#include "run/bounded_staleness.hpp"
#include "run/dispatch.hpp"
#include "run/over_provision.hpp"
#include "run/partial_rollouts.hpp"

namespace maxplus {

void check_long_tails(const Deck& deck, std::vector<Fault>& faults) {
  check_token_budget(deck, faults);
  check_bounded_staleness(deck, faults);
  check_over_provision(deck, faults);
  const GenerationTable& g = deck.generation;
  if (dispatches_longest_first(deck) && deck.schedule.staleness == "bounded") {
    faults.push_back({deck.where("generation.dispatch"),
                      "[generation] dispatch = \"longest_first\" is given together with [schedule] staleness = "
                      "\"bounded\": rollouts of the oldest iteration would wait behind longer ones of newer iterations",
                      "one of them", "dispatch = \"order\""});
  }
  if (g.force_length_shared > 0 && !(g.force_length_sigma > 0)) {
    faults.push_back({deck.where("generation.force_length_shared"),
                      fmt::format("[generation] force_length_shared = {} is given without force_length_sigma",
                                  g.force_length_shared),
                      "lengths that differ", "force_length_sigma = 1.0"});
  }
}

}  // namespace maxplus
