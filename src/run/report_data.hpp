#pragma once
// What a report needs of a run folder.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace maxplus {

using Json = nlohmann::ordered_json;

struct RunRecord {
  std::string name;   // of the folder
  std::string title;  // of the deck, or the name
  Json manifest = Json::object();
  std::vector<Json> metrics;                             // lines in the order of iterations
  std::int64_t first_iteration = 0, last_iteration = 0;  // of the rollouts kept here
  std::vector<Json> first_rollouts,
      last_rollouts;  // whole records of these iterations; last is empty if equal to first
};

RunRecord read_run(const std::filesystem::path& folder);

// Points of one metric: (iteration, value) where the line has it. Lines of iteration 0 belong to it.
struct Points {
  std::vector<double> x, y;
};
Points points_of(const RunRecord& run, const std::string& metric);
// The last value of a metric, or NaN.
double last_of(const RunRecord& run, const std::string& metric);

// Best, worst and two others by place, without repetition: what stands for an iteration. Pointers into `records`.
struct Example {
  std::string why;
  const Json* record = nullptr;
};
std::vector<Example> examples_of(const std::vector<Json>& records);

}  // namespace maxplus
