#pragma once
// [placement] and [schedule] of a deck: what is wrong with them, and which rank has which roles.

#include <string>
#include <vector>

#include "base/error.hpp"
#include "deck/tables.hpp"
#include "parallel/role_map.hpp"
#include "plan/schedule.hpp"
#include "roles/engine.hpp"
#include "run/machine.hpp"
#include "run/trace_file.hpp"

namespace maxplus {

// Of a deck without faults. Replay draws nothing: there every rank trains.
RoleMap role_map_of(const Deck& deck, int ranks);

void check_placement(const Deck& deck, int ranks, std::vector<Fault>& faults);

// The ranks that share the slices of a step: the policy's or the critic's, whichever are more.
int most_trainers(const RoleMap& map);

// What generation, assessment and training wait for in a run with these roles. The deck's token_budget fits
// its max_staleness.
ScheduleKind schedule_kind(const Deck& deck, SharedRanks shared);
ScheduleKind schedule_kind(const Deck& deck, const RoleMap& map);

// The ways between the stages of such a run, for its trace.
std::vector<TraceMailbox> trace_mailboxes(const Schedule& schedule, const RoleMap& map);

// "generator", "actor", "reference", ... of a rank.
std::vector<std::string> roles_of(const Deck& deck, const RoleMap& map, int rank);

// Of a deck's roles those that have ranks for themselves to look at: generator, actor, and networks that are not at
// home.
std::vector<Role> roles_apart(const Deck& deck, const RoleMap& map);

// For people, of a deck that wants bounded staleness on ranks that cannot be ahead: why it has no effect. Else empty.
std::string bounded_note(const Deck& deck, const RoleMap& map);

// "ranks 0-5: generator", of ranks of the same roles; nothing where all ranks have all roles.
std::vector<std::string> role_lines(const Deck& deck, const RoleMap& map);

// Whether weights come to ranks that only draw while they draw: into a second buffer.
bool hands_off_beside(const Deck& deck, const RoleMap& map);

// What a rank with these roles builds of the whole.
EngineShape shape_of_rank(const Deck& deck, EngineShape shape, const RoleMap& map, int rank);

// For people: a line for ranks of the same roles, each with its memory, and where the ranks are. `places`: of each
// rank; empty: not known.
std::string role_table(const Deck& deck, const RoleMap& map, const EngineShape& shape,
                       const std::vector<RankPlace>& places);

}  // namespace maxplus
