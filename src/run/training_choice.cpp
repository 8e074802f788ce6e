// Which problems a round of drawing begins, and which of what it drew count.
#include <algorithm>
#include <cstring>

#include "base/error.hpp"
#include "run/over_provision.hpp"
#include "run/training_run.hpp"

namespace maxplus {

// `taken`: problems that earlier rounds of the iteration have taken from the run's order.
TrainingRun::Round TrainingRun::round_of(std::int64_t iteration, std::int64_t attempt, std::int64_t taken) const {
  const std::int64_t left = iterations_in_all() - iteration + 1;
  const RoundPlan plan = plan_round(deck_, left, std::ssize(state_.long_problems));
  Round round;
  round.iteration = iteration, round.attempt = attempt;
  round.listed = plan.listed, round.members = plan.members, round.chooses = plan.chooses;
  round.places.assign(state_.long_problems.begin(), state_.long_problems.begin() + plan.listed);
  for (std::int64_t i = 0; i < plan.fresh; ++i) round.places.push_back(state_.problem_cursor + taken + i);
  return round;
}

// The same on every rank that generates: from the lengths of all that ended.
void TrainingRun::keep_first(const Round& round, std::vector<GenerationRequest>* requests,
                             std::vector<const Problem*>* problem_of, std::vector<Rollout>* rollouts,
                             Collected* collected) const {
  std::vector<DrawnLength> mine;
  for (const Rollout& rollout : *rollouts) {
    if (has_ended(rollout)) mine.push_back({rollout.id, std::ssize(rollout.token)});
  }
  watchdog_->wait("exchange of lengths");
  std::vector<DrawnLength> drawn;
  for (const std::vector<std::byte>& bytes : groups_->generators().gather_all(std::as_bytes(std::span(mine)))) {
    std::vector<DrawnLength> theirs(bytes.size() / sizeof(DrawnLength));
    if (!theirs.empty()) std::memcpy(theirs.data(), bytes.data(), theirs.size() * sizeof(DrawnLength));
    drawn.insert(drawn.end(), theirs.begin(), theirs.end());
  }
  const std::int64_t begun = std::ssize(round.places);
  const FirstOnes ones =
      first_ones(std::move(drawn), begun, deck_.generation.problems_per_iteration, deck_.generation.group_size);
  std::int64_t tokens = 0;
  for (const Rollout& rollout : *rollouts) tokens += std::ssize(rollout.token);
  keep_only(ones.kept, requests, problem_of, rollouts);
  for (const Rollout& rollout : *rollouts) tokens -= std::ssize(rollout.token);
  Collected::Facts& facts = collected->facts;
  facts.tokens_surplus = tokens;
  facts.rollouts_surplus = begun * round.members - std::ssize(ones.kept);
  facts.groups_deferred = std::ssize(ones.late);
  for (const std::int64_t slot : ones.late) collected->deferred.push_back(round.places[static_cast<std::size_t>(slot)]);
}

// Ranks that do not draw count along: what was on the list and is drawn leaves it, what is deferred is put on it.
void TrainingRun::move_on(const Collected& drawn) {
  state_.problem_cursor += drawn.facts.problems_taken;
  std::vector<std::int64_t>& list = state_.long_problems;
  MAXPLUS_REQUIRE(drawn.facts.problems_listed <= std::ssize(list), "more long problems are drawn than were listed");
  list.erase(list.begin(), list.begin() + drawn.facts.problems_listed);
  list.insert(list.end(), drawn.deferred.begin(), drawn.deferred.end());
}

}  // namespace maxplus
