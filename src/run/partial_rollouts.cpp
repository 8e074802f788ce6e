#include "run/partial_rollouts.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "run/key_faults.hpp"

namespace maxplus {

namespace {

std::int64_t longest_answer(const Deck& deck) {
  const GenerationTable& g = deck.generation;
  return g.force_length > 0 && !(g.force_length_sigma > 0) ? g.force_length : g.max_new_tokens;
}

std::int64_t rounded_up(std::int64_t number, std::int64_t by) { return (number + by - 1) / by; }

}  // namespace

std::int64_t iterations_of_rollout(const Deck& deck) {
  if (deck.schedule.token_budget == 0) return 1;
  return rounded_up(longest_answer(deck), deck.schedule.token_budget);
}

std::int64_t generation_lead(const Deck& deck) {
  return deck.schedule.max_staleness - (iterations_of_rollout(deck) - 1);
}

void check_token_budget(const Deck& deck, std::vector<Fault>& faults) {
  const ScheduleTable& s = deck.schedule;
  if (s.token_budget == 0) return;
  const KeyFaults faults_of(deck, "schedule.token_budget", fmt::format("[schedule] token_budget = {}", s.token_budget),
                            "token_budget = 0", &faults);
  if (faults_of.nothing_is_drawn()) return;
  faults_of.not_with_environment("this version does not keep the turns of a rollout that is to go on");
  faults_of.not_with_resampling(
      "whether a parked group has a spread is not known, and every round would get a budget of its own");
  const std::int64_t longest = longest_answer(deck), older = iterations_of_rollout(deck) - 1;
  if (older <= s.max_staleness) return;
  const std::int64_t least = rounded_up(longest, s.max_staleness + 1);
  faults_of.add(
      fmt::format("lets a rollout of {} tokens go on for {} iterations: its first token would be {} versions old, and "
                  "max_staleness = {}",
                  longest, older + 1, older, s.max_staleness),
      fmt::format("max_staleness of at least {}, or a token_budget of at least {}", older, least),
      fmt::format("max_staleness = {}", older));
}

std::int64_t group_number(std::int64_t iteration, const RolloutId& member) {
  const std::int64_t age = iteration - member.iteration;
  MAXPLUS_REQUIRE(age >= 0, "a group of a later iteration");
  return (age << 40) | (static_cast<std::int64_t>(member.attempt) << 32) | member.slot;
}

GenerationRequest going_on_with(std::span<const Experience> group, const Problem* problem, std::int64_t iteration) {
  GenerationRequest request;
  request.problem = problem;
  request.group = group_number(iteration, group.front().rollout.id);
  for (const Experience& member : group) {
    request.ids.push_back(member.rollout.id);
    request.begun.push_back(member.rollout);
  }
  return request;
}

std::vector<Experience> set_aside_parked(std::vector<GenerationRequest>* requests,
                                         std::vector<const Problem*>* problem_of, std::vector<Rollout>* rollouts) {
  std::vector<Experience> parked;
  std::vector<GenerationRequest> ended;
  std::size_t first = 0, kept = 0;
  for (GenerationRequest& request : *requests) {
    const std::size_t last = first + request.ids.size();
    const bool goes_on = std::any_of(rollouts->begin() + static_cast<std::ptrdiff_t>(first),
                                     rollouts->begin() + static_cast<std::ptrdiff_t>(last),
                                     [](const Rollout& member) { return member.finish == Finish::parked; });
    for (; first < last; ++first) {
      if (goes_on) {
        parked.push_back({*request.problem, std::move((*rollouts)[first]), {}, {}});
      } else {
        if (kept != first) (*rollouts)[kept] = std::move((*rollouts)[first]);
        (*problem_of)[kept++] = request.problem;
      }
    }
    if (!goes_on) ended.push_back(std::move(request));
  }
  rollouts->resize(kept);
  problem_of->resize(kept);
  *requests = std::move(ended);
  return parked;
}

}  // namespace maxplus
