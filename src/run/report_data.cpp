#include "run/report_data.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <limits>

#include <fmt/format.h>

#include "base/error.hpp"

namespace maxplus {

namespace {

constexpr std::string_view kIterationFirst = "{\"iteration\":";

// Of a line of rollouts.jsonl, without reading all of it where we wrote it; -1 if it has none.
std::int64_t iteration_of(const std::string& line) {
  std::int64_t iteration = -1;
  if (line.rfind(kIterationFirst, 0) == 0) {
    std::from_chars(line.data() + kIterationFirst.size(), line.data() + line.size(), iteration);
    return iteration;
  }
  const Json record = Json::parse(line, nullptr, false);
  if (record.is_object() && record.contains("iteration") && record["iteration"].is_number_integer())
    iteration = record["iteration"];
  return iteration;
}

std::vector<Json> parse_all(const std::vector<std::string>& lines) {
  std::vector<Json> records;
  for (const std::string& line : lines) {
    Json record = Json::parse(line, nullptr, false);
    if (record.is_object()) records.push_back(std::move(record));
  }
  return records;
}

void read_rollouts(const std::filesystem::path& path, RunRecord& run) {
  std::ifstream file(path);
  std::vector<std::string> first, last;
  std::int64_t first_iteration = -1, last_iteration = -1;
  for (std::string line; std::getline(file, line);) {
    const std::int64_t iteration = iteration_of(line);
    if (iteration < 0) continue;
    if (first_iteration < 0) first_iteration = iteration;
    if (iteration == first_iteration) {
      first.push_back(line);
      continue;
    }
    if (iteration != last_iteration) last.clear();
    last_iteration = iteration;
    last.push_back(std::move(line));
  }
  run.first_iteration = std::max<std::int64_t>(first_iteration, 0);
  run.last_iteration = std::max(last_iteration, run.first_iteration);
  run.first_rollouts = parse_all(first);
  run.last_rollouts = parse_all(last);
}

// `title = "..."` at the head of deck.toml; the manifest's is preferred.
std::string title_of(const std::filesystem::path& folder, const Json& manifest) {
  for (const char* key : {"title", "deck_title"}) {
    if (manifest.contains(key) && manifest[key].is_string()) return manifest[key];
  }
  std::ifstream file(folder / "deck.toml");
  for (std::string line; std::getline(file, line) && line.find('[') != 0;) {
    if (line.rfind("title", 0) != 0) continue;
    const std::size_t open = line.find_first_of("\"'");
    const std::size_t close = open == std::string::npos ? open : line.find(line[open], open + 1);
    if (close != std::string::npos) return line.substr(open + 1, close - open - 1);
  }
  return "";
}

}  // namespace

RunRecord read_run(const std::filesystem::path& folder) {
  RunRecord run;
  const std::filesystem::path clean = std::filesystem::absolute(folder).lexically_normal();
  run.name = (clean.has_filename() ? clean : clean.parent_path()).filename().string();
  std::ifstream metrics(folder / "metrics.jsonl");
  if (!metrics) {
    throw Error(ExitCode::no_input, Fault{folder.string(), "this is no run folder: it has no readable metrics.jsonl",
                                          "a folder that `maxplus train` wrote ([run] out)", ""});
  }
  for (std::string line; std::getline(metrics, line);) {
    Json row = Json::parse(line, nullptr, false);  // a torn last line is left out
    if (row.is_object() && row.contains("iteration") && row["iteration"].is_number())
      run.metrics.push_back(std::move(row));
  }
  std::ifstream manifest(folder / "manifest.json");
  if (manifest) run.manifest = Json::parse(manifest, nullptr, false);
  if (!run.manifest.is_object()) run.manifest = Json::object();
  run.title = title_of(folder, run.manifest);
  if (run.title.empty()) run.title = run.name;
  read_rollouts(folder / "rollouts.jsonl", run);
  return run;
}

Points points_of(const RunRecord& run, const std::string& metric) {
  Points points;
  for (const Json& row : run.metrics) {
    const auto found = row.find(metric);
    if (found == row.end() || !found->is_number()) continue;
    points.x.push_back(row["iteration"].get<double>());
    points.y.push_back(found->get<double>());
  }
  return points;
}

double last_of(const RunRecord& run, const std::string& metric) {
  const Points points = points_of(run, metric);
  return points.y.empty() ? std::numeric_limits<double>::quiet_NaN() : points.y.back();
}

std::vector<Example> examples_of(const std::vector<Json>& records) {
  std::vector<Example> chosen;
  const auto reward = [](const Json& r) {
    return r.contains("reward") && r["reward"].is_number() ? r["reward"].get<double>() : 0.0;
  };
  // The record at a place, or the next one that was not taken yet.
  const auto add = [&](const char* why, std::size_t place) {
    for (std::size_t i = 0; i < records.size(); ++i) {
      const Json& record = records[(place + i) % records.size()];
      const bool there =
          std::any_of(chosen.begin(), chosen.end(), [&](const Example& e) { return e.record == &record; });
      if (there) continue;
      chosen.push_back({why, &record});
      return;
    }
  };
  if (records.empty()) return chosen;
  const auto less = [&](const Json& a, const Json& b) { return reward(a) < reward(b); };
  add("best", static_cast<std::size_t>(std::max_element(records.begin(), records.end(), less) - records.begin()));
  add("worst", static_cast<std::size_t>(std::min_element(records.begin(), records.end(), less) - records.begin()));
  add("another", records.size() / 3);
  add("another", 2 * records.size() / 3);
  return chosen;
}

}  // namespace maxplus
