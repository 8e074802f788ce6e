// Iterations that generation begins as soon as max_staleness admits them ([schedule] staleness = "bounded"). Where
// ranks only draw or only train, those that draw go on until there are newer weights, and all that has not ended is
// parked until they have come; those that train wait only for what their own iteration lacks.
#include <algorithm>
#include <memory>
#include <utility>

#include "run/bounded_staleness.hpp"
#include "run/partial_rollouts.hpp"
#include "run/training_run.hpp"

namespace maxplus {

std::int64_t TrainingRun::whole_until() const {
  if (!is_bounded()) return waiting_.empty() ? state_.iteration : waiting_.back().facts.iteration;
  return last_whole(waiting_, state_.iteration, deck_.generation.problems_per_iteration);
}

TrainingRun::Round TrainingRun::bounded_round(std::int64_t needed) const {
  const std::int64_t size = deck_.generation.problems_per_iteration, begun = state_.problem_cursor;
  // More may have begun than is admitted here: by a run on other ranks.
  const std::int64_t admitted = std::max(begun / size, schedule_->admitted(state_.iteration + 1, iterations_in_all()));
  Round round;
  round.iteration = admitted, round.needed = needed, round.members = deck_.generation.group_size;
  for (std::int64_t place = begun; place < admitted * size; ++place) round.places.push_back(place);
  return round;
}

// What of it is dropped is found when it is dealt out.
Collected TrainingRun::collect_bounded(std::int64_t needed, const StopRequest& stop) {
  Collected drawn = draw_and_judge(bounded_round(needed), stop);
  drawn.dropped.assign(drawn.experiences.size(), 0);
  return drawn;
}

// This rank pulls the bell when its share of what is needed has ended, and parks the rest when all have pulled it and
// the newer weights are here.
void TrainingRun::pull_when_drawn(std::span<const GenerationRequest> requests, const Round& round, GenerationRule* rule,
                                  RequestDone* done) {
  std::vector<bool> is_needed;
  for (const GenerationRequest& request : requests) is_needed.push_back(request.ids.front().iteration <= round.needed);
  const auto open = std::make_shared<std::ptrdiff_t>(std::count(is_needed.begin(), is_needed.end(), true));
  if (*open == 0) bell_->pull();
  rule->pause = [this] { return bell_->has_rung() && hand_off_->has_arrived(); };
  *done = [this, open, is_needed = std::move(is_needed), judge = std::move(*done)](std::size_t request,
                                                                                   std::span<const Rollout> group) {
    if (judge) judge(request, group);
    if (is_needed[request] && --*open == 0) bell_->pull();
  };
}

// Whole groups to the iterations that they were admitted for. What a drawing took counts for the iteration that is
// trained on next.
void TrainingRun::deal_out(Collected drawn) {
  const std::int64_t next = state_.iteration + 1, wanted = deck_.generation.problems_per_iteration;
  Collected spent;
  spent.facts = std::exchange(drawn.facts, {});
  spent.facts.groups = 0;
  Collected& first = waiting_of(next, &waiting_);
  first.facts.groups_parked = first.facts.rollouts_parked = 0;  // what is parked now, not what ever was
  append(&first, std::move(spent), wanted);
  for (Collected& part : by_iteration(std::move(drawn.experiences))) {
    Collected& waiting = waiting_of(part.facts.iteration, &waiting_);
    append(&waiting, std::move(part), wanted);
    if (!groups_->learns()) waiting.experiences.clear(), waiting.dropped.clear();
    sort_groups(&waiting);
  }
}

}  // namespace maxplus
