#pragma once
// What waits when iterations are drawn at the generator's own pace ([schedule] staleness = "bounded"; interruptible
// generation: AReaL, 2025, arXiv:2505.24298; PipelineRL, 2025, arXiv:2509.19128).
//
// While iteration k is drawn for or trained on, groups of all iterations up to k + max_staleness are under way, with
// the newest weights there are: those that were k - 1 times trained. So no token is older than max_staleness when
// iteration k + max_staleness is trained on. Groups end in any order and wait for their own iteration, which is trained
// on when it is whole: every problem is trained on once, in the run's order, whatever takes how long.

#include <cstdint>
#include <span>
#include <vector>

#include "base/error.hpp"
#include "deck/tables.hpp"
#include "roles/collected.hpp"

namespace maxplus {

// Whether the deck wants it: something is drawn, and not as exact staleness says.
bool wants_bounded(const Deck& deck);

// What is wrong with [schedule] staleness = "bounded".
void check_bounded_staleness(const Deck& deck, std::vector<Fault>& faults);

// The last iteration such that all after `trained` up to it have `groups` groups waiting. `waiting`: by iteration.
std::int64_t last_whole(std::span<const Collected> waiting, std::int64_t trained, std::int64_t groups);

// What waits of an iteration; a new place in the list, which stays in order, if there is none. Good until the next
// call.
Collected& waiting_of(std::int64_t iteration, std::vector<Collected>* waiting);

// Whole groups in any order, by the iterations of their ids, ascending; their numbers become those of that iteration.
std::vector<Collected> by_iteration(std::vector<Experience> drawn);

// Brings the groups of one iteration into the order of their ids.
void sort_groups(Collected* collected);

}  // namespace maxplus
