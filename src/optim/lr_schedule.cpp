#include "optim/lr_schedule.hpp"

#include <algorithm>

#include "base/exact_math.hpp"

namespace maxplus {

namespace {

constexpr double kPi = 3.14159265358979323846;

}  // namespace

std::optional<ScheduleShape> schedule_shape(std::string_view word) {
  if (word == "constant") return ScheduleShape::constant;
  if (word == "linear") return ScheduleShape::linear;
  if (word == "cosine") return ScheduleShape::cosine;
  return std::nullopt;
}

double LearningRateSchedule::rate(std::int64_t step) const {
  if (step <= warmup_steps)
    return peak * static_cast<double>(step) / static_cast<double>(std::max<std::int64_t>(1, warmup_steps));
  if (shape == ScheduleShape::constant) return peak;
  const auto length = static_cast<double>(std::max<std::int64_t>(1, total_steps - warmup_steps));
  const double progress = std::min(1.0, static_cast<double>(step - warmup_steps) / length);
  const double fall = shape == ScheduleShape::linear ? 1.0 - progress : 0.5 * (1.0 + exact_cos(kPi * progress));
  return peak * (final_share + (1.0 - final_share) * fall);
}

}  // namespace maxplus
