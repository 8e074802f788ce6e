#pragma once
// More problems and rollouts than are trained on, of which the first count ([schedule] over_provision_problems and
// over_provision_rollouts; after RollPacker, arXiv 2509.21009, 2025).
//
// With P problems an iteration, R rollouts of each and the factors p and r a short round begins ceil(p P) problems with
// ceil(r R) rollouts. Of a problem those R count that have the fewest tokens, and it is complete at the most tokens
// among these; the round's batch are the P problems that are complete first. Ties go to the smaller rollout id. The
// other problems are put on a list of long ones, in the run's order. Once that holds P, an iteration is a long round:
// the P that have waited longest are drawn anew, R rollouts each, and all to their ends.
//
// So every problem that is taken from the run's order is trained on exactly once. Towards the end of a run no more
// problems are begun than the iterations that are left can train on, and its last one takes what is still listed.

#include <cstdint>
#include <span>
#include <vector>

#include "base/error.hpp"
#include "deck/tables.hpp"
#include "rl/sample.hpp"
#include "roles/generator.hpp"

namespace maxplus {

bool over_provides(const Deck& deck);

// What is wrong with these keys.
void check_over_provision(const Deck& deck, std::vector<Fault>& faults);

// Of one round of drawing: problems from the list of long ones, then from the run's order.
struct RoundPlan {
  std::int64_t listed = 0, fresh = 0;
  std::int64_t members = 0;  // rollouts of each
  bool chooses = false;      // only the first count
};
// With so many iterations left, this one included, and so many problems on the list.
RoundPlan plan_round(const Deck& deck, std::int64_t left, std::int64_t listed);

struct DrawnLength {
  RolloutId id;
  std::int64_t tokens = 0;
};
struct FirstOnes {
  std::vector<RolloutId> kept;     // in order
  std::vector<std::int64_t> late;  // slots of the other problems
};
// Of a round that began the slots from 0 to `begun`: `problems` of them with `members` rollouts each. `drawn`: all that
// ended, in any order; what was stopped as surplus may be among them or not.
FirstOnes first_ones(std::vector<DrawnLength> drawn, std::int64_t begun, std::int64_t problems, std::int64_t members);

// Leaves the kept ones of this rank's requests.
void keep_only(const std::vector<RolloutId>& kept, std::vector<GenerationRequest>* requests,
               std::vector<const Problem*>* problem_of, std::vector<Rollout>* rollouts);

}  // namespace maxplus
