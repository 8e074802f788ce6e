#pragma once
// The tests that alarm rules are made of. "Start" and "end" are the means over the first and the last tenth of a
// metric's values, three of them at least.

#include <string>
#include <vector>

#include "run/report/alarms.hpp"

namespace maxplus {

struct Trend {
  double start = 0, end = 0, last_iteration = 0;
};
// Nothing where the metric has fewer than `least` values.
std::optional<Trend> trend_of(const RunRecord& run, const char* metric, std::size_t least);

// Some value is above the limit. Where drawing runs ahead of training (staleness), or computes in
// another precision, it is no fault and not looked at.
AlarmTest ever_above_on_policy(const char* metric, double limit);
AlarmTest ever_below_on_policy(const char* metric, double limit);
AlarmTest end_above(std::vector<const char*> summed, double limit);
AlarmTest end_below(const char* metric, double limit);
// Of all rollouts of the run: for faults, which may come seldom.
AlarmTest share_of_rollouts_above(const char* count, double limit);
// Of the rollouts of the last tenth.
AlarmTest end_share_of_rollouts_above(const char* count, double limit);
// The end is below `share` of the start.
AlarmTest falls_below(const char* metric, double share);
// A value above `times` the median of up to twenty before it.
AlarmTest spikes_above(const char* metric, double times);
// Iterations in which the metric is not 0.
AlarmTest iterations_above(const char* metric, double share);

// A policy that solves its problems may be certain, and its groups all right.
AlarmTest unless_solved(AlarmTest test);
AlarmTest entropy_rises();
AlarmTest drift_rises();  // of the policy from those that drew, where drawing runs ahead
AlarmTest only_wrong_answers_grow();
AlarmTest reward_rises_accuracy_falls();
AlarmTest reward_is_lost();
AlarmTest memory_grows();

}  // namespace maxplus
