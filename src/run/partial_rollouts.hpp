#pragma once
// Rollouts that take several iterations ([schedule] token_budget; partial rollouts, Kimi k1.5, 2025).
//
// In one iteration a rollout gets at most token_budget new tokens. One that has not ended is parked with its tokens,
// their log-probabilities and versions, and goes on in the next iteration with the newer weights. Every iteration
// admits problems_per_iteration new problems, whatever is parked, so that as many groups are trained on as are
// admitted; a group is judged and trained on in the iteration in which the last of its members ends. The last iteration
// of a run has no budget, so that nothing is left over.
//
// With L the longest answer and B the budget a rollout lives for at most n = ceil(L / B) iterations. Its first token is
// drawn n - 1 iterations before it is trained on, and as many versions older than in a run without a budget: of
// max_staleness n - 1 are needed for that, and what is left is how far generation may run ahead. An iteration draws at
// most n * B < L + B tokens for each rollout that is admitted, one budget more than a whole answer.

#include <cstdint>
#include <span>
#include <vector>

#include "base/error.hpp"
#include "deck/tables.hpp"
#include "rl/sample.hpp"
#include "roles/generator.hpp"

namespace maxplus {

// The most iterations in which one rollout gets tokens; 1 without a budget.
std::int64_t iterations_of_rollout(const Deck& deck);

// So many iterations generation runs ahead of training.
std::int64_t generation_lead(const Deck& deck);

// What is wrong with [schedule] token_budget.
void check_token_budget(const Deck& deck, std::vector<Fault>& faults);

// Unique among the groups that an iteration draws, whenever they were admitted; attempt and slot for those of its own.
std::int64_t group_number(std::int64_t iteration, const RolloutId& member);

// To go on with a parked group, all members of it, in `iteration`.
GenerationRequest going_on_with(std::span<const Experience> group, const Problem* problem, std::int64_t iteration);

// Takes the groups that have a parked member out of what was drawn, in the order of the requests, and returns them.
std::vector<Experience> set_aside_parked(std::vector<GenerationRequest>* requests,
                                         std::vector<const Problem*>* problem_of, std::vector<Rollout>* rollouts);

}  // namespace maxplus
