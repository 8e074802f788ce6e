#pragma once
// The metrics of a run for TensorBoard.

#include <filesystem>
#include <string>
#include <string_view>

#include "run/report/run_record.hpp"

namespace maxplus {

// "eval/eval_accuracy", "time/seconds_training", "train/reward_mean": TensorBoard puts what stands before the stroke
// under one heading.
std::string tensorboard_tag(std::string_view metric);

// Writes folder/events.out.tfevents.SECONDS.maxplus, with the iteration as the step, in place of one written before;
// other files there are left alone. Returns its path. Throws Error(cannot_create), Error(io).
std::filesystem::path write_tensorboard(const RunRecord& run, const std::filesystem::path& folder);

}  // namespace maxplus
