#pragma once
// What bounded a run: its schedule's event graph (plan/schedule), fed with the stage times of metrics.jsonl.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "plan/schedule.hpp"
#include "run/report/run_record.hpp"

namespace maxplus {

// Whether the stage's time is what training waited for it: with bounded staleness generation goes on beside all else.
bool stands_for_waiting(const ScheduleKind& kind, Stage stage);

// For people, in the words of the metrics.
const char* word_of(const ScheduleKind& kind, Stage stage);

struct ScheduleReplay {
  ScheduleKind kind;
  std::vector<double> iteration;  // of each line that trained
  StepTimes times;                // [line][stage]
  double measured_s = 0;          // iterations, evaluations and checkpoints as they were measured, together
  double replayed_s = 0;          // the makespan of the graph, fed with each line's own times
  double from_means_s = 0;        // the same with the mean of every stage in every step
  double period_s = 0;            // of the steady state, from these means

  // Of the lines in which generation is as far ahead as it may be: `first` to `last`, both included.
  std::size_t first = 0, last = 0;
  Timeline line;                // of these
  std::vector<bool> critical;   // [stage]: on the critical path in more than half of them
  std::vector<double> share;    // [stage]: of the critical path; of settling in assessment
  std::vector<double> waits_s;  // [stage]: how much longer it could take, mean of the steps that have it
  Stage bound = Stage::generation;

  double iteration_s() const { return line.makespan() / static_cast<double>(last - first + 1); }
  // "training bounds this run: 71 % of an iteration; generation waits 0.12 s"
  std::string sentence() const;
  Json json() const;
};

// Nothing of a run that draws nothing, or whose deck cannot be read.
std::optional<ScheduleReplay> replay_schedule(const RunRecord& run);

}  // namespace maxplus
