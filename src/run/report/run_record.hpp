#pragma once
// What a report needs of a run folder, read once.
//
// The columns of metrics.jsonl are kept as numbers: 10,000 iterations take some 15 MB. Of rollouts.jsonl, which may
// have many GB, only a few iterations are looked up, and of each only a few rollouts are read as a whole.

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "deck/tables.hpp"
#include "text/tokenizer.hpp"

namespace maxplus {

using Json = nlohmann::ordered_json;

// Values of one metric where a line has it; x are iterations, ascending. Lines of iteration 0 belong to it.
struct Points {
  std::vector<double> x, y;
};

// A rollout that stands for its iteration.
struct Example {
  std::string why;  // "best", "worst", "another"
  Json record;
};

struct IterationExamples {
  std::int64_t iteration = 0, rollouts = 0;  // recorded in it
  std::vector<Example> examples;
};

struct RunRecord {
  std::string name;   // of the folder
  std::string title;  // of the deck, or the name
  std::filesystem::path folder;
  Json manifest = Json::object();
  std::map<std::string, Points, std::less<>> metrics;
  std::string weights_hash;  // of the last line that has one
  std::optional<Deck> deck;  // as it was run, where deck.toml still reads without a fault
  std::vector<IterationExamples> rollouts;
  std::shared_ptr<const Tokenizer> tokenizer;  // null: `no_tokenizer` says why
  std::string no_tokenizer;
};

// `iterations`: of how many at most rollouts are read, evenly over the run, first and last among them. Throws
// Error(no_input) for a folder that is no run.
RunRecord read_run(const std::filesystem::path& folder, int iterations);

// Empty where no line has the metric.
const Points& points_of(const RunRecord& run, std::string_view metric);
// The last value of a metric, or NaN.
double last_of(const RunRecord& run, std::string_view metric);

}  // namespace maxplus
