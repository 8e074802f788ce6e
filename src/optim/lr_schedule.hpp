#pragma once
// The learning rate as a function of the step: a linear rise over the warm-up, then constant, linear or half a cosine
// down to `final_share` of the peak at the last step. A function of numbers only, so a resume needs no state.

#include <cstdint>
#include <optional>
#include <string_view>

namespace maxplus {

enum class ScheduleShape { constant, linear, cosine };

// "constant", "linear", "cosine"; nothing for any other word.
std::optional<ScheduleShape> schedule_shape(std::string_view word);

struct LearningRateSchedule {
  double peak = 0;
  ScheduleShape shape = ScheduleShape::constant;
  std::int64_t warmup_steps = 0;
  std::int64_t total_steps = 1;
  double final_share = 0;  // of the peak, at total_steps and after it

  // Of optimizer step `step`, counted from 1: the warm-up ends with the peak at step warmup_steps.
  double rate(std::int64_t step) const;
};

}  // namespace maxplus
