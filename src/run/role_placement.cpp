#include "run/role_placement.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/strings.hpp"
#include "rl/algorithms/algorithm.hpp"
#include "run/bounded_staleness.hpp"
#include "run/partial_rollouts.hpp"

namespace maxplus {

namespace {

std::optional<RankRequest> request_of(const std::optional<RankChoice>& choice) {
  if (!choice) return std::nullopt;
  return RankRequest{choice->count, choice->text};
}

// Whether a deck has work for a role. A critic on the policy's network has no ranks of its own.
bool has_role(const Deck& deck, Role role) {
  switch (role) {
    case Role::generator:
    case Role::actor: break;
    case Role::critic: return deck.critic && !deck.critic->shared;
    case Role::reference: return deck.reference.has_value();
    case Role::reward: return deck.reward_model.has_value();
  }
  return true;
}

RoleMap placed_roles(const Deck& deck, int ranks, std::vector<Fault>* faults) {
  const PlacementTable& table = deck.placement;
  const auto asked = [&deck](Role role, const std::optional<RankChoice>& choice) {
    return has_role(deck, role) ? request_of(choice) : std::nullopt;
  };
  return RoleMap::placed(ranks,
                         {request_of(table.generator), request_of(table.actor), asked(Role::critic, table.critic),
                          asked(Role::reference, table.reference), asked(Role::reward, table.reward)},
                         faults);
}

// Ranks for a network that the deck does not have.
void check_networks(const Deck& deck, std::vector<Fault>& faults) {
  const PlacementTable& table = deck.placement;
  const struct {
    Role role;
    const std::optional<RankChoice>& choice;
    const char* table;
  } all[] = {{Role::critic, table.critic, "critic"},
             {Role::reference, table.reference, "reference"},
             {Role::reward, table.reward, "reward_model"}};
  for (const auto& [role, choice, name] : all) {
    if (!choice || has_role(deck, role)) continue;
    const bool shared = role == Role::critic && deck.critic;
    faults.push_back(
        {deck.where(fmt::format("placement.{}", name_of(role))),
         fmt::format("[placement] {} is given, and there is no [{}] with a network of its own", name_of(role), name),
         shared ? "[critic] shared = false: a critic on the policy's network works where the actor does"
                : fmt::format("[{}], or no ranks for it", name),
         fmt::format("remove {}", name_of(role))});
  }
}

}  // namespace

RoleMap role_map_of(const Deck& deck, int ranks) {
  std::vector<Fault> none;
  RoleMap map = placed_roles(deck, ranks, &none);
  MAXPLUS_REQUIRE(none.empty(), none.front().found);
  return map;
}

void check_placement(const Deck& deck, int ranks, std::vector<Fault>& faults) {
  std::vector<Fault> found;
  const RoleMap map = placed_roles(deck, ranks, &found);
  for (Fault& fault : found) {
    fault.where = deck.where("placement." + fault.where);
    faults.push_back(std::move(fault));
  }
  check_networks(deck, faults);
  const bool answers = learns_from_answers(deck.algorithm);
  if (answers && !map.is_colocated()) {
    faults.push_back(
        {deck.where("placement"),
         fmt::format("[placement] with algorithm '{}', which learns from answers of a file", deck.algorithm.name),
         "every rank trains: there is no generator", "remove [placement]"});
  }
  if (answers && deck.schedule.max_staleness > 0) {
    faults.push_back({deck.where("schedule.max_staleness"),
                      fmt::format("[schedule] max_staleness = {} with algorithm '{}', which learns from answers of a "
                                  "file",
                                  deck.schedule.max_staleness, deck.algorithm.name),
                      "max_staleness = 0: nothing is drawn that could be ahead", "remove max_staleness"});
  }
}

int most_trainers(const RoleMap& map) {
  return static_cast<int>(std::max(map.actors().size(), map.ranks_of(Role::critic).size()));
}

ScheduleKind schedule_kind(const Deck& deck, SharedRanks shared) {
  ScheduleKind kind;
  kind.max_staleness = generation_lead(deck);
  if (wants_bounded(deck)) {
    kind.staleness = Staleness::bounded;
    // Ranks with both roles draw an iteration when they are about to train on it: then the newest weights are its own.
    if (shared == SharedRanks::all) kind.max_staleness = 0;
  }
  kind.granularity = deck.schedule.granularity == "group" ? Granularity::group : Granularity::iteration;
  kind.shared = shared;
  return kind;
}

ScheduleKind schedule_kind(const Deck& deck, const RoleMap& map) {
  bool both = false;
  for (int r = 0; r < map.ranks(); ++r)
    both = both || ((map.generates(r) || map.has(Role::reward, r)) && map.learns(r));
  return schedule_kind(deck, both ? SharedRanks::all : SharedRanks::generator_judges);
}

std::vector<TraceMailbox> trace_mailboxes(const Schedule& schedule, const RoleMap& map) {
  std::vector<int> itself(static_cast<std::size_t>(map.ranks()));
  std::iota(itself.begin(), itself.end(), 0);
  const std::vector<bool>& actors = map.of(Role::actor);
  const std::vector<int> rollouts = relay_plan(map.of(Role::generator)).giver;
  const RelayPlan weights = relay_plan(actors, map.of(Role::generator));
  const std::int64_t behind = 1 + schedule.max_staleness();
  const TraceTrack generation = {"generator", "generation"}, assessment = {"reward", "assessment"},
                   training = {"actor", "training"};
  std::vector<TraceMailbox> mailboxes = {
      {"drawn rollouts", generation, assessment, 0, itself},
      {"judged rollouts", assessment, training, 0, rollouts},
  };
  for (const Role role : {Role::critic, Role::reference}) {
    if (!map.is_apart(role)) continue;
    const TraceTrack asked = {name_of(role), "assessment"};
    mailboxes.push_back({"judged rollouts", assessment, asked, 0, rollouts});
    mailboxes.push_back({role == Role::critic ? "values" : "reference scores", asked, training, 0,
                         relay_plan(map.of(role), actors).giver});
  }
  if (weights.takers == 0) {
    mailboxes.push_back({"weights", training, generation, behind, itself});
  } else {
    const TraceTrack hand_off = {"", "hand-off"};  // of both who give and who take
    mailboxes.push_back({"weights", training, hand_off, 0, weights.giver});
    mailboxes.push_back({"weights", hand_off, generation, behind, itself});
  }
  return mailboxes;
}

std::vector<std::string> roles_of(const Deck& deck, const RoleMap& map, int rank) {
  std::vector<std::string> roles;
  for (const Role role : {Role::generator, Role::actor, Role::reference, Role::critic, Role::reward}) {
    if (map.has(role, rank) && has_role(deck, role)) roles.emplace_back(name_of(role));
  }
  return roles;
}

std::vector<Role> roles_apart(const Deck& deck, const RoleMap& map) {
  std::vector<Role> roles = {Role::generator, Role::actor};
  for (const Role role : {Role::critic, Role::reference, Role::reward}) {
    if (map.is_apart(role) && has_role(deck, role)) roles.push_back(role);
  }
  return roles;
}

std::string bounded_note(const Deck& deck, const RoleMap& map) {
  if (!wants_bounded(deck) || schedule_kind(deck, map).max_staleness > 0) return "";
  return deck.schedule.max_staleness == 0
             ? "staleness = \"bounded\" has no effect with max_staleness = 0: every iteration is drawn on policy"
             : "staleness = \"bounded\" has no effect where a rank both draws and learns: every iteration is drawn on "
               "policy, when it is about to be trained on; [placement] gives generator and actor ranks of their own";
}

namespace {

std::map<std::string, std::vector<int>> ranks_by_roles(const Deck& deck, const RoleMap& map) {
  std::map<std::string, std::vector<int>> ranks_of;
  for (int r = 0; r < map.ranks(); ++r) ranks_of[join(roles_of(deck, map, r), " and ")].push_back(r);
  return ranks_of;
}

std::string role_line(const std::string& roles, const std::vector<int>& ranks) {
  return fmt::format("{} {}: {}", ranks.size() == 1 ? "rank" : "ranks", rank_list(ranks), roles);
}

}  // namespace

std::vector<std::string> role_lines(const Deck& deck, const RoleMap& map) {
  std::vector<std::string> lines;
  if (map.is_colocated()) return lines;
  for (const auto& [roles, ranks] : ranks_by_roles(deck, map)) lines.push_back(role_line(roles, ranks));
  return lines;
}

bool hands_off_beside(const Deck& deck, const RoleMap& map) {
  return deck.schedule.weight_buffers == 2 && schedule_kind(deck, map).max_staleness > 0;
}

EngineShape shape_of_rank(const Deck& deck, EngineShape shape, const RoleMap& map, int rank) {
  shape.has_policy = map.generates(rank) || map.trains(rank);
  if (!map.generates(rank)) {
    shape.generation.reset();
    shape.limits.extend_tokens = shape.limits.extend_rows = 0;
  }
  if (!map.trains(rank)) shape.optimizer.reset();
  shape.second_weights = map.generates(rank) && !map.trains(rank) && hands_off_beside(deck, map);
  if (!map.has(Role::reward, rank)) shape.reward_model.reset();
  if (!map.has(Role::reference, rank)) shape.reference.reset();
  if (!map.has(Role::critic, rank)) shape.critic.reset();
  if (shape.critic) {
    shape.critic->place = DataPlace{map.place(Role::critic, rank), static_cast<int>(map.ranks_of(Role::critic).size())};
  }
  return shape;
}

namespace {

// "rank 6: 0-3, rank 7: 4-7" of those of `ranks`, which all have the role.
std::string slices_table(const RoleMap& map, Role role, const std::vector<int>& ranks, int slices) {
  const auto all = static_cast<int>(map.ranks_of(role).size());
  std::vector<std::string> parts;
  for (const int rank : ranks) {
    const SliceRange range = slices_of_rank(slices, map.place(role, rank), all);
    parts.push_back(fmt::format("rank {}: {}-{}", rank, range.first, range.last - 1));
  }
  return join(parts, ", ");
}

// A line a host: its ranks with their roles and cores.
std::string places_table(const Deck& deck, const RoleMap& map, const std::vector<RankPlace>& places) {
  std::map<std::string, std::vector<std::string>> on_host;
  for (int r = 0; r < map.ranks(); ++r) {
    const RankPlace& place = places[static_cast<std::size_t>(r)];
    on_host[place.host].push_back(
        fmt::format("rank {} ({}) cores {}", r, join(roles_of(deck, map, r), " and "), place.cores));
  }
  std::string text;
  for (const auto& [host, ranks] : on_host) text += fmt::format("node {}: {}\n", host, join(ranks, "; "));
  return text;
}

}  // namespace

std::string role_table(const Deck& deck, const RoleMap& map, const EngineShape& shape,
                       const std::vector<RankPlace>& places) {
  std::string text = fmt::format("ranks {}\n", map.ranks());
  const int slices = static_cast<int>(deck.optimizer.gradient_slices);
  for (const auto& [roles, ranks] : ranks_by_roles(deck, map)) {
    const int first = ranks.front();
    text += role_line(roles, ranks) + "\n";
    if (map.trains(first))
      text += fmt::format("  slices of a step: {}\n", slices_table(map, Role::actor, ranks, slices));
    if (map.has(Role::critic, first) && has_role(deck, Role::critic) && map.is_apart(Role::critic))
      text += fmt::format("  slices of a critic's step: {}\n", slices_table(map, Role::critic, ranks, slices));
    const int actors = map.trains(first) ? static_cast<int>(map.actors().size()) : 1;
    const MemoryPlan plan = Engine::plan(shape_of_rank(deck, shape, map, first), map.place(Role::actor, first), actors);
    for (const std::string& line : split(plan.table(), '\n')) {
      if (!line.empty()) text += fmt::format("  {}\n", line);
    }
  }
  if (const std::string note = bounded_note(deck, map); !note.empty()) text += note + "\n";
  if (!places.empty()) return text + places_table(deck, map, places);
  return text +
         "nodes and cores are the launcher's choice: it shows them if it starts this with --check on the ranks\n";
}

}  // namespace maxplus
