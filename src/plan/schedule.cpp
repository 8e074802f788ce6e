#include "plan/schedule.hpp"

#include <algorithm>
#include <optional>

namespace maxplus {

namespace {

// Judging goes along with drawing, in its rounds; scoring with training; what opens a step is the end of the one
// before.
std::optional<Schedule::Task::Work> work_of(Stage stage) {
  using Work = Schedule::Task::Work;
  switch (stage) {
    case Stage::generation: return Work::drawing;
    case Stage::exchange: return Work::exchange;
    case Stage::training: return Work::training;
    case Stage::hand_off: return Work::hand_off;
    case Stage::closing: return Work::closing;
    case Stage::opening:
    case Stage::assessment:
    case Stage::settling:
    case Stage::scoring: break;
  }
  return std::nullopt;
}

}  // namespace

const char* name_of(Stage stage) {
  switch (stage) {
    case Stage::opening: return "opening";
    case Stage::generation: return "generation";
    case Stage::assessment: return "assessment";
    case Stage::settling: return "settling";
    case Stage::exchange: return "exchange";
    case Stage::scoring: return "scoring";
    case Stage::training: return "training";
    case Stage::hand_off: return "hand-off";
    case Stage::closing: return "closing";
  }
  return "";
}

Schedule::Schedule(const ScheduleKind& kind) : kind_(kind), graph_(kStages) {
  const std::int64_t ahead = lead(Stage::generation);
  const bool by_group = kind_.granularity == Granularity::group;
  std::vector<Stage> first = {Stage::generation};  // what begins as soon as something may be drawn
  if (by_group) first.push_back(Stage::assessment);

  add_mailbox(Stage::generation, by_group ? Stage::settling : Stage::assessment, 0);
  add_mailbox(Stage::assessment, Stage::settling, 0);
  add_mailbox(Stage::settling, Stage::exchange, 0);
  add_mailbox(Stage::exchange, Stage::scoring, 0);
  add_mailbox(Stage::scoring, Stage::training, 0);
  add_mailbox(Stage::training, Stage::hand_off, 0);
  for (const Stage stage : first) add_mailbox(Stage::hand_off, stage, 1 + ahead);

  // Ranks that train do one after the other, and then begin anew.
  add(Stage::opening, Stage::scoring, 0);
  add(Stage::hand_off, Stage::closing, 0);
  add(Stage::closing, Stage::opening, 1);
  if (kind_.shared == SharedRanks::none) {
    add(Stage::generation, Stage::generation, 1);
    add(Stage::assessment, Stage::assessment, 1);
  } else {
    for (const Stage stage : first) add(Stage::settling, stage, 1);
  }
  if (kind_.shared == SharedRanks::all) {
    add(Stage::settling, Stage::scoring, 0);  // so that what is drawn beside a training has the weights of before
    for (const Stage stage : first) add(Stage::opening, stage, 0);
  }
  if (kind_.waits == Waits::world) {
    if (ahead > 0) add(Stage::training, Stage::exchange, 0);
    add(Stage::exchange, Stage::hand_off, 0);
    for (const Stage stage : first) add(Stage::opening, stage, 0);
  }
}

void Schedule::add(Stage from, Stage to, std::int64_t steps) {
  graph_.add(static_cast<int>(from), static_cast<int>(to), steps);
}

void Schedule::add_mailbox(Stage from, Stage to, std::int64_t iterations) {
  add(from, to, iterations + lead(from) - lead(to));
}

std::int64_t Schedule::lead(Stage stage) const {
  switch (stage) {
    case Stage::generation:
    case Stage::assessment:
    case Stage::settling:
    case Stage::exchange: return kind_.staleness == Staleness::exact ? kind_.max_staleness : 0;
    case Stage::opening:
    case Stage::scoring:
    case Stage::training:
    case Stage::hand_off:
    case Stage::closing: break;
  }
  return 0;
}

std::int64_t Schedule::version(std::int64_t iteration) const {
  return std::max<std::int64_t>(0, iteration - 1 - kind_.max_staleness);
}

std::int64_t Schedule::admitted(std::int64_t iteration, std::int64_t last) const {
  return std::min(last, iteration + kind_.max_staleness);
}

std::vector<Schedule::Task> Schedule::step(std::int64_t iteration, std::int64_t drawn, std::int64_t last) const {
  using Work = Task::Work;
  std::vector<Task> tasks;
  if (kind_.staleness == Staleness::bounded) {
    if (drawn < iteration) tasks = {{Work::drawing, iteration, false}, {Work::exchange, iteration, false}};
    const bool ahead = admitted(iteration, last) > iteration;
    if (ahead) tasks.push_back({Work::drawing, 0, true});
    tasks.push_back({Work::training, iteration, false});
    if (ahead) tasks.push_back({Work::exchange, 0, false});
    tasks.push_back({Work::hand_off, iteration, false});
    tasks.push_back({Work::closing, iteration, false});
    return tasks;
  }
  const std::int64_t drawn_here = iteration + lead(Stage::generation);
  for (std::int64_t next = std::max(drawn + 1, iteration); next < drawn_here && next <= last; ++next) {
    tasks.push_back({Work::drawing, next, false});
    tasks.push_back({Work::exchange, next, false});
  }
  for (const int node : graph_.order()) {
    const auto stage = static_cast<Stage>(node);
    const std::optional<Work> work = work_of(stage);
    const std::int64_t of = iteration + lead(stage);
    const bool draws = work == Work::drawing || work == Work::exchange;
    if (!work || (draws && (of <= drawn || of > last))) continue;
    tasks.push_back({*work, of, work == Work::drawing && lead(stage) > 0});
  }
  return tasks;
}

}  // namespace maxplus
