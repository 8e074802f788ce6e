#include "run/role_placement.hpp"

#include <map>
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

RoleMap placed_roles(const Deck& deck, int ranks, std::vector<Fault>* faults) {
  return RoleMap::placed(ranks, request_of(deck.placement.generator), request_of(deck.placement.actor), faults);
}

// A network beside the policy that a deck may place, and where it works.
struct Beside {
  const char* role;
  const char* table;
  const std::optional<RankChoice>& choice;
  bool exists;
  const char* home;
  std::vector<int> ranks;  // of its home
};

bool names_these(const RankChoice& choice, const std::vector<int>& ranks, int all) {
  if (choice.count > 0) return choice.count == std::ssize(ranks);
  return parse_rank_list(choice.text, all) == ranks || (choice.text == "100%" && std::ssize(ranks) == all);
}

void check_beside(const Deck& deck, const Beside& beside, int ranks, std::vector<Fault>& faults) {
  if (!beside.choice) return;
  const std::string key = fmt::format("placement.{}", beside.role);
  if (!beside.exists) {
    faults.push_back({deck.where(key),
                      fmt::format("[placement] {} is given, and there is no [{}] with a network of its own",
                                  beside.role, beside.table),
                      fmt::format("[{}], or no ranks for it", beside.table), fmt::format("remove {}", beside.role)});
  } else if (!names_these(*beside.choice, beside.ranks, ranks)) {
    const std::string home = quote(rank_list(beside.ranks));
    const nlohmann::json written = *beside.choice;
    faults.push_back({deck.where(key),
                      fmt::format("[placement] {} = {} is not supported by this version", beside.role, written.dump()),
                      fmt::format("the ranks of the {}, where it works for now: {}", beside.home, home),
                      fmt::format("{} = {}, or leave it out", beside.role, home)});
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
  const bool whole = found.empty();
  for (Fault& fault : found) {
    fault.where = deck.where("placement." + fault.where);
    faults.push_back(std::move(fault));
  }
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
  if (!whole) return;
  const std::vector<int> actors = map.actors(), generators = map.generators();
  const PlacementTable& table = deck.placement;
  const Beside all[] = {
      {"critic", "critic", table.critic, deck.critic && !deck.critic->shared, "actor", actors},
      {"reference", "reference", table.reference, deck.reference.has_value(), "actor", actors},
      {"reward", "reward_model", table.reward, deck.reward_model.has_value(), "generator", generators}};
  for (const Beside& beside : all) check_beside(deck, beside, ranks, faults);
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
  for (int r = 0; r < map.ranks(); ++r) both = both || (map.generates(r) && map.trains(r));
  return schedule_kind(deck, both ? SharedRanks::all : SharedRanks::generator_judges);
}

std::vector<TraceMailbox> trace_mailboxes(const Schedule& schedule, const RoleMap& map) {
  std::vector<bool> generates, trains;
  std::vector<int> itself;
  for (int r = 0; r < map.ranks(); ++r) {
    generates.push_back(map.generates(r));
    trains.push_back(map.trains(r));
    itself.push_back(r);
  }
  const RelayPlan weights = relay_plan(trains);
  const std::int64_t behind = 1 + schedule.max_staleness();
  const TraceTrack generation = {"generator", "generation"}, assessment = {"reward", "assessment"},
                   training = {"actor", "training"};
  std::vector<TraceMailbox> mailboxes = {
      {"drawn rollouts", generation, assessment, 0, itself},
      {"judged rollouts", assessment, training, 0, relay_plan(generates).giver},
  };
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
  const auto add = [&roles](bool has, const char* role) {
    if (has) roles.emplace_back(role);
  };
  add(map.generates(rank), "generator");
  add(map.trains(rank), "actor");
  add(map.trains(rank) && deck.reference, "reference");
  add(map.trains(rank) && deck.critic && !deck.critic->shared, "critic");
  add(map.generates(rank) && deck.reward_model, "reward");
  return roles;
}

EngineShape shape_of_rank(EngineShape shape, const RoleMap& map, int rank) {
  if (!map.generates(rank)) {
    shape.generation.reset();
    shape.limits.extend_tokens = shape.limits.extend_rows = 0;
    shape.reward_model.reset();
  }
  if (!map.trains(rank)) {
    shape.optimizer.reset();
    shape.critic.reset();
    shape.reference.reset();
  }
  return shape;
}

std::string role_table(const Deck& deck, const RoleMap& map, const EngineShape& shape) {
  std::map<std::string, std::vector<int>> ranks_of;  // by roles
  for (int r = 0; r < map.ranks(); ++r) ranks_of[join(roles_of(deck, map, r), " and ")].push_back(r);
  std::string text = fmt::format("ranks {}\n", map.ranks());
  const int slices = static_cast<int>(deck.optimizer.gradient_slices);
  const int actors = static_cast<int>(map.actors().size());
  for (const auto& [roles, ranks] : ranks_of) {
    text += fmt::format("{} {}: {}\n", ranks.size() == 1 ? "rank" : "ranks", rank_list(ranks), roles);
    if (map.trains(ranks.front())) {
      std::vector<std::string> parts;
      for (const int r : ranks) {
        const SliceRange range = slices_of_rank(slices, map.place_among_actors(r), actors);
        parts.push_back(fmt::format("rank {}: {}-{}", r, range.first, range.last - 1));
      }
      text += fmt::format("  slices of a step: {}\n", join(parts, ", "));
    }
    const bool trains = map.trains(ranks.front());
    const MemoryPlan plan = Engine::plan(shape_of_rank(shape, map, ranks.front()),
                                         trains ? map.place_among_actors(ranks.front()) : 0, trains ? actors : 1);
    for (const std::string& line : split(plan.table(), '\n')) {
      if (!line.empty()) text += fmt::format("  {}\n", line);
    }
  }
  return text + "nodes and cores of the ranks are the launcher's choice; manifest.json tells them\n";
}

}  // namespace maxplus
