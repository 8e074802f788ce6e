// Rollouts that are not needed any more where the first of a group, and of a round's groups, count.
#include "base/error.hpp"
#include "roles/generator.hpp"

namespace maxplus {

CompleteAt Generator::complete_at_bounds(std::size_t request) const {
  MAXPLUS_REQUIRE(rollouts_ != nullptr, "asked for what is drawn while nothing is");
  const Asked& asked = asked_.at(request);
  return complete_at(std::span(*rollouts_).subspan(asked.first, asked.count), asked.wanted);
}

void Generator::give_up(std::size_t request) {
  asked_.at(request).given_up = true;
  has_surplus_ = true;
}

// After one of its rollouts has ended.
void Generator::find_last(Asked* asked, const std::vector<Rollout>& rollouts) {
  if (asked->wanted == 0) return;
  asked->last = last_that_counts(std::span(rollouts).subspan(asked->first, asked->count), asked->wanted);
  has_surplus_ = has_surplus_ || asked->last;
}

bool Generator::is_surplus(std::size_t rollout, const std::vector<Rollout>& rollouts) const {
  const Asked& asked = asked_[request_of_[rollout]];
  return asked.given_up ||
         (asked.last && std::pair(std::ssize(rollouts[rollout].token) + 1, rollout - asked.first) > *asked.last);
}

// Ends what cannot be among the first any more, rows and those that wait for one.
void Generator::end_surplus(std::vector<Rollout>* rollouts) {
  if (!has_surplus_) return;
  std::deque<Waiting> still_waiting;
  for (const Waiting& member : waiting_) {
    if (!is_surplus(member.rollout, *rollouts)) {
      still_waiting.push_back(member);
      continue;
    }
    (*rollouts)[member.rollout].finish = Finish::surplus;
    end_rollout(member.rollout, *rollouts);
    Prompt& prompt = prompts_[member.prompt];
    if (--prompt.members_left == 0) cache_.release(prompt.sequence);
  }
  waiting_ = std::move(still_waiting);
  std::vector<Row> kept;
  for (Row& row : rows_) {
    if (!is_surplus(row.rollout, *rollouts)) {
      kept.push_back(std::move(row));
      continue;
    }
    (*rollouts)[row.rollout].finish = Finish::surplus;
    end_row(row, *rollouts);
  }
  rows_ = std::move(kept);
}

}  // namespace maxplus
