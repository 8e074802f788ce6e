#include "run/bounded_staleness.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "rl/algorithms/algorithm.hpp"
#include "run/key_faults.hpp"
#include "run/partial_rollouts.hpp"

namespace maxplus {

bool wants_bounded(const Deck& deck) {
  return deck.schedule.staleness == "bounded" && !learns_from_answers(deck.algorithm);
}

void check_bounded_staleness(const Deck& deck, std::vector<Fault>& faults) {
  if (deck.schedule.staleness != "bounded") return;
  const KeyFaults faults_of(deck, "schedule.staleness", "[schedule] staleness = \"bounded\"", "staleness = \"exact\"",
                            &faults);
  if (faults_of.nothing_is_drawn()) return;
  faults_of.not_with_environment("this version does not keep the turns of a rollout that is interrupted");
  if (deck.schedule.token_budget > 0) {
    faults_of.add("is given together with token_budget: rollouts are interrupted for new weights, and go on with them",
                  "one of them", "token_budget = 0");
  }
  faults_of.not_with_resampling("an iteration is whole when as many groups as it has problems have ended");
}

std::int64_t last_whole(std::span<const Collected> waiting, std::int64_t trained, std::int64_t groups) {
  for (const Collected& iteration : waiting) {
    if (iteration.facts.iteration != trained + 1 || iteration.facts.groups < groups) break;
    ++trained;
  }
  return trained;
}

Collected& waiting_of(std::int64_t iteration, std::vector<Collected>* waiting) {
  const auto place =
      std::lower_bound(waiting->begin(), waiting->end(), iteration,
                       [](const Collected& one, std::int64_t number) { return one.facts.iteration < number; });
  if (place != waiting->end() && place->facts.iteration == iteration) return *place;
  Collected fresh;
  fresh.facts.iteration = iteration;
  return *waiting->insert(place, std::move(fresh));
}

std::vector<Collected> by_iteration(std::vector<Experience> drawn) {
  std::map<std::int64_t, Collected> parts;
  for (const auto& [begin, end] : groups_of(drawn)) {
    const RolloutId id = drawn[begin].rollout.id;
    Collected& part = parts[id.iteration];
    part.facts.iteration = id.iteration;
    ++part.facts.groups;
    for (std::size_t i = begin; i < end; ++i) {
      drawn[i].rollout.group = group_number(id.iteration, id);
      part.experiences.push_back(std::move(drawn[i]));
    }
  }
  std::vector<Collected> list;
  for (auto& [iteration, part] : parts) list.push_back(std::move(part));
  return list;
}

void sort_groups(Collected* collected) {
  std::vector<std::pair<std::size_t, std::size_t>> groups = groups_of(collected->experiences);
  std::sort(groups.begin(), groups.end(), [&](const auto& a, const auto& b) {
    return collected->experiences[a.first].rollout.group < collected->experiences[b.first].rollout.group;
  });
  std::vector<Experience> experiences;
  std::vector<std::uint8_t> dropped;
  for (const auto& [begin, end] : groups) {
    for (std::size_t i = begin; i < end; ++i) {
      experiences.push_back(std::move(collected->experiences[i]));
      dropped.push_back(collected->dropped[i]);
    }
  }
  collected->experiences = std::move(experiences);
  collected->dropped = std::move(dropped);
}

}  // namespace maxplus
