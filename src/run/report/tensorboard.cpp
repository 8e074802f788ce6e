#include "run/report/tensorboard.hpp"

#include <cmath>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/strings.hpp"
#include "io/event_file.hpp"

namespace maxplus {

namespace {

constexpr std::string_view kNameBegin = "events.out.tfevents.", kNameEnd = ".maxplus";

void remove_older(const std::filesystem::path& folder) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(kNameBegin) && name.ends_with(kNameEnd)) std::filesystem::remove(entry.path(), error);
  }
}

bool is_of_time(std::string_view metric) {
  return starts_with(metric, "seconds_") || metric.ends_with("_per_s") || starts_with(metric, "memory_") ||
         starts_with(metric, "idle_share_") || metric == "tail_share" || metric == "elapsed_s";
}

}  // namespace

std::string tensorboard_tag(std::string_view metric) {
  return fmt::format("{}/{}", starts_with(metric, "eval_") ? "eval" : is_of_time(metric) ? "time" : "train", metric);
}

std::filesystem::path write_tensorboard(const RunRecord& run, const std::filesystem::path& folder) {
  std::map<double, std::vector<Scalar>> rows;
  for (const auto& [name, points] : run.metrics) {
    if (name == "schema" || name == "iteration" || name == "time_unix") continue;
    for (std::size_t i = 0; i < points.x.size(); ++i)
      rows[points.x[i]].push_back({tensorboard_tag(name), static_cast<float>(points.y[i])});
  }
  std::map<double, double> wall_time;
  const Points& written = points_of(run, "time_unix");
  for (std::size_t i = 0; i < written.x.size(); ++i) wall_time[written.x[i]] = written.y[i];
  const double start = wall_time.empty() ? 0 : wall_time.begin()->second;

  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    throw Error(ExitCode::cannot_create,
                Fault{folder.string(), "the folder cannot be made: " + error.message(), "", ""});
  }
  remove_older(folder);
  const std::filesystem::path path = folder / fmt::format("{}{:.0f}{}", kNameBegin, std::floor(start), kNameEnd);
  EventFile file(path, start);
  for (const auto& [iteration, scalars] : rows) {
    const auto found = wall_time.find(iteration);
    file.add(found == wall_time.end() ? start : found->second, std::llround(iteration), scalars);
  }
  file.commit();
  return path;
}

}  // namespace maxplus
