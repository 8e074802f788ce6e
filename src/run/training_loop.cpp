// One iteration of the loop: what is drawn before and beside its training, the training, and what ranks tell each other
// then: rollouts, weights, the state, the line of metrics.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "io/fault_hook.hpp"
#include "run/over_provision.hpp"
#include "run/role_placement.hpp"
#include "run/training_run.hpp"

namespace maxplus {

TrainingRun::Next TrainingRun::leave_after_stop() {
  stop_reason_ = "asked to stop";
  if (hand_off_) hand_off_->abandon();
  save();
  return Next::leave;
}

// The schedule says what is done in which order; every rank walks the same list.
TrainingRun::Next TrainingRun::iterate() {
  Step step;
  step.talked_before = groups_->seconds_communicated();
  const std::int64_t iteration = state_.iteration + 1;
  const std::int64_t drawn = whole_until();
  drawing_s_ = waited_s_ = 0;
  for (const Schedule::Task& task : schedule_->step(iteration, drawn, iterations_in_all())) {
    switch (task.work) {
      case Schedule::Task::Work::drawing: {
        // Where some rank does not draw, its work has begun beside this: then it is too late to leave it undone.
        const bool may_stop = !task.beside || groups_->map().all_generate();
        if (task.beside && groups_->weights().takes() && hand_off_) hand_off_->begin();
        step.drawn = draw(task.iteration, may_stop ? stop_request() : going_on());
        if (task.beside && step.drawn.abandoned()) return leave_after_stop();
        break;
      }
      case Schedule::Task::Work::exchange: {
        const Timer exchanging;
        if (bell_) {
          watchdog_->wait("others that draw or train");
          bell_->settle();
        }
        if (!take_in(std::move(step.drawn), &step.spent)) return leave_after_stop();
        if (state_.iteration == iteration) step.spent.seconds_awaited += exchanging.seconds();
        break;
      }
      case Schedule::Task::Work::training:
        step.spent.seconds_awaited = step.timer.seconds();
        train_on_waiting(task.iteration, &step);
        if (groups_->weights().gives()) hand_off_->begin();
        break;
      case Schedule::Task::Work::hand_off: {
        const Timer handing;
        publish_weights();
        if (groups_->trains()) step.spent.seconds_weight_handoff = handing.seconds();
        break;
      }
      case Schedule::Task::Work::closing: return close(&step);
    }
  }
  return Next::go_on;
}

// Takes the iteration that has waited longest. Ranks that do not learn from it count along.
void TrainingRun::train_on_waiting(std::int64_t iteration, Step* step) {
  for (const Collected& waiting : waiting_) step->spent.groups_waiting += waiting.facts.groups;
  step->taken = std::move(waiting_.front());
  waiting_.erase(waiting_.begin());
  Trained& trained = step->trained;
  if (groups_->learns()) trained = train(&step->taken, iteration);

  engine_->pack_drawing_copy();
  state_.iteration = iteration;
  ++state_.policy_version;
  if (!options_.replay_file.empty()) ++state_.replay_cursor;
  const auto is_taken = [](const StepReport& report) { return !report.skipped; };
  const bool learned = std::any_of(trained.steps.begin(), trained.steps.end(), is_taken) || !trained.values.empty();
  // Where all that was drawn is parked, there was nothing that could have had a signal.
  if (learned || step->taken.facts.groups > 0)
    state_.iterations_without_signal = !learned ? state_.iterations_without_signal + 1 : 0;
  saved_ = false;
}

// What all ranks tell each other of a step: its times, the state, the line of metrics.
TrainingRun::Next TrainingRun::close(Step* step) {
  Spent& spent = step->spent;
  Trained& trained = step->trained;
  const Collected& collected = step->taken;
  spent.seconds_busy = drawing_s_ + trained.seconds_scoring + trained.seconds_training - waited_s_;
  const double talked = groups_->seconds_communicated() - step->talked_before;
  // Ranks that only learn wait inside their work for others of their role that draw first: these tell how long it
  // takes.
  const bool waits = groups_->map().waits_for_drawing(world_.rank());
  double times[] = {waits ? 0 : trained.seconds_scoring, waits ? 0 : trained.seconds_training,
                    spent.seconds_weight_handoff, talked};
  world_.maximum(std::span<double>(times));
  trained.seconds_scoring = times[0], trained.seconds_training = times[1];
  spent.seconds_weight_handoff = times[2], spent.seconds_communication = times[3];
  MetricsRow row;
  if (groups_->trains()) {
    row = row_of(collected, trained, spent);
    move_kl_coefficient(&row);
    recorder_->rollouts(collected.experiences, state_.iteration);
  }
  refresh_reference();
  agree_on_state(&row);
  warn_of_unjudged(row, collected.experiences);
  const double seconds = maximum_of(world_, step->timer.seconds());
  row.set("seconds_iteration", seconds);
  add_idle_shares(&row, spent, seconds);
  longest_iteration_s_ = std::max(longest_iteration_s_, seconds);
  require_signal();
  return finish_iteration(std::move(row));
}

MetricsRow TrainingRun::row_of(const Collected& collected, const Trained& trained, const Spent& spent) {
  IterationFacts facts;
  facts.iteration = state_.iteration;
  facts.groups = collected.facts.groups;
  facts.groups_dropped = collected.facts.groups_dropped;
  facts.rollouts_dropped = collected.facts.rollouts_dropped;
  facts.tokens_generated = collected.facts.tokens_generated;
  facts.tokens_processed = collected.facts.tokens_processed;
  // At its own pace nobody waits for the last to end.
  if (!bell_) facts.tail_share = collected.facts.tail_share;
  facts.tokens_drawn = spent.tokens_drawn;
  facts.seconds_generation = spent.seconds_generation;
  facts.seconds_assessment = spent.seconds_assessment + trained.seconds_scoring;
  facts.seconds_training = trained.seconds_training;
  facts.seconds_communication = spent.seconds_communication;
  facts.drawn = options_.replay_file.empty() && !inputs_.answers;
  MetricsRow row = recorder_->iteration_row(facts, collected.experiences, trained.steps, trained.values, state_);
  if (facts.drawn) add_staleness(&row, collected, spent);
  if (facts.drawn) row.set("decode_steps", collected.facts.decode_steps);
  if (facts.drawn && over_provides(deck_)) {
    row.set("problems", collected.facts.groups + collected.facts.groups_deferred);
    row.set("groups_deferred", collected.facts.groups_deferred);
    row.set("rollouts_surplus", collected.facts.rollouts_surplus);
    row.set("tokens_surplus", collected.facts.tokens_surplus);
  }
  if (facts.drawn && (deck_.schedule.token_budget > 0 || is_bounded())) {
    row.set("problems", collected.facts.problems_taken);
    row.set("groups_parked", collected.facts.groups_parked);
    row.set("rollouts_parked", collected.facts.rollouts_parked);
  }
  if (facts.drawn && spent.tokens_drawn > 0) row.set("seconds_drawing", spent.seconds_drawing);
  if (facts.drawn && is_bounded()) row.set("seconds_awaited", spent.seconds_awaited);
  if (deck_.reference || deck_.critic) row.set("seconds_scoring", trained.seconds_scoring);
  if (groups_->weights().is_needed()) row.set("seconds_weight_handoff", spent.seconds_weight_handoff);
  return row;
}

// How old the versions are that its tokens were drawn with when an iteration is trained on.
void TrainingRun::add_staleness(MetricsRow* row, const Collected& collected, const Spent& spent) const {
  const std::int64_t trained_version = state_.policy_version - 1;
  std::int64_t tokens = 0, sum = 0, largest = 0;
  for (std::size_t i = 0; i < collected.experiences.size(); ++i) {
    const Rollout& rollout = collected.experiences[i].rollout;
    if (collected.dropped[i] != 0) continue;
    for (std::size_t t = 0; t < rollout.token.size(); ++t) {
      if (rollout.trainable[t] == 0) continue;
      const std::int64_t age = trained_version - rollout.version[t];
      ++tokens, sum += age, largest = std::max(largest, age);
    }
  }
  if (tokens > 0) {
    row->set("staleness_mean", static_cast<double>(sum) / static_cast<double>(tokens));
    row->set("staleness_max", largest);
  }
  if (schedule_->max_staleness() > 0) row->set("queue_depth_max", spent.groups_waiting);
}

// Of a role's ranks where roles differ: the time in which they worked for none.
void TrainingRun::add_idle_shares(MetricsRow* row, const Spent& spent, double seconds_iteration) {
  const RoleMap& map = groups_->map();
  if (map.is_colocated() || !(seconds_iteration > 0)) return;
  const std::vector<Role> roles = roles_apart(deck_, map);
  std::vector<double> busy;
  for (const Role role : roles) busy.push_back(groups_->has(role) ? spent.seconds_busy : 0);
  world_.sum(std::span<double>(busy));
  for (std::size_t r = 0; r < roles.size(); ++r) {
    const double all = static_cast<double>(map.ranks_of(roles[r]).size()) * seconds_iteration;
    row->set(fmt::format("idle_share_{}", name_of(roles[r])), std::clamp(1.0 - busy[r] / all, 0.0, 1.0));
  }
}

void TrainingRun::agree_on_state(MetricsRow* row) {
  const Relay& relay = groups_->account();
  if (!relay.is_needed()) return;
  nlohmann::json account{{"state", state_.to_json()}};
  if (row != nullptr) account["row"] = row->to_json();
  std::string text = relay.gives() ? account.dump() : "";
  watchdog_->wait("account of the training");
  relay.pass(&text);
  if (!relay.takes()) return;
  const nlohmann::json said = nlohmann::json::parse(text);
  state_ = RunState::from_json(said.at("state"));
  if (row != nullptr) *row = MetricsRow::from_json(said.at("row"));
  if (state_.kl_coefficient > 0) algorithm_->set_kl_coefficient(state_.kl_coefficient);
}

void TrainingRun::publish_weights() {
  if (!groups_->weights().is_needed() || !engine_->shape().has_policy) return;
  watchdog_->wait("hand-off of weights");
  fault_point("weight_sync", world_.rank());
  const Trace::Span span(*trace_, groups_->trains() ? "actor" : "generator", "hand-off", state_.policy_version);
  hand_off_->finish(state_.policy_version);
  if (groups_->weights().takes()) engine_->policy().pack_weights();
}

void TrainingRun::require_signal() {
  if (deck_.run.no_signal_limit == 0 || state_.iterations_without_signal < deck_.run.no_signal_limit) return;
  save();
  throw Error(
      ExitCode::numeric,
      Fault{"",
            fmt::format("{} iterations in a row gave nothing to learn from: in every group all rewards were equal",
                        state_.iterations_without_signal),
            "groups with different rewards",
            "easier or harder problems, a larger group_size, a higher temperature; the state is saved"});
}

// That nothing is learned has a cause that no reward shows.
void TrainingRun::warn_of_unjudged(const MetricsRow& row, std::span<const Experience> experiences) {
  if (warned_of_unjudged_ || !row.has("verdict_gold_unusable")) return;
  const double unusable = row.number("verdict_gold_unusable"), crashed = row.number("verdict_crashed");
  if (unusable + crashed < row.number("rollouts") || row.number("rollouts") == 0) return;
  warned_of_unjudged_ = true;
  recorder_->warn(
      fmt::format("no answer of this iteration could be judged, so nothing is learned: for {:.0f} of {:.0f} "
                  "the problem has no answer that the verifier can compare with, {:.0f} judgements crashed "
                  "(for files: [data] answer_key){}{}",
                  unusable, row.number("rollouts"), crashed, crashed > 0 ? ". " : "", crashes_among(experiences)));
}

}  // namespace maxplus
