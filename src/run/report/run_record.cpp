#include "run/report/run_record.hpp"

#include <cmath>
#include <fstream>
#include <limits>

#include <fmt/format.h>

#include "base/error.hpp"
#include "deck/deck.hpp"
#include "io/checkpoint_file.hpp"
#include "io/checkpoint_folder.hpp"
#include "run/checkpointing.hpp"
#include "run/model_source.hpp"
#include "run/report/examples.hpp"
#include "run/text_choice.hpp"

namespace maxplus {

namespace {

constexpr double kMostIterations = 1e12;  // beyond, halves of an iteration cannot be told in a double

// A line that is torn, or does not go on where the one before it ended, is left out.
void read_metrics(std::ifstream& file, RunRecord& run) {
  double before = -1;
  for (std::string line; std::getline(file, line);) {
    const Json row = Json::parse(line, nullptr, false);
    if (!row.is_object() || !row.contains("iteration") || !row["iteration"].is_number()) continue;
    const double iteration = row["iteration"].get<double>();
    if (!(iteration > before && iteration < kMostIterations)) continue;
    before = iteration;
    for (const auto& [name, value] : row.items()) {
      if (name == "weights_hash" && value.is_string()) run.weights_hash = value.get<std::string>();
      if (!value.is_number() || !std::isfinite(value.get<double>())) continue;
      Points& points = run.metrics[name];
      points.x.push_back(iteration);
      points.y.push_back(value.get<double>());
    }
  }
}

std::string title_of(const RunRecord& run) {
  const auto found = run.manifest.find("title");
  if (found != run.manifest.end() && found->is_string() && !found->get_ref<const std::string&>().empty()) return *found;
  return run.deck && !run.deck->title.empty() ? run.deck->title : run.name;
}

std::optional<Deck> deck_of(const std::filesystem::path& folder) {
  try {
    DeckReading reading = read_deck_and_faults(folder / "deck.toml", {});
    if (reading.faults.empty()) return std::move(reading.deck);
  } catch (const Error&) {  // a report is possible without it
  }
  return std::nullopt;
}

std::shared_ptr<const Tokenizer> checkpoint_tokenizer(const std::filesystem::path& folder) {
  const std::optional<std::string> name = checkpoint::read_pointer(folder.string());
  if (!name || !checkpoint::iteration_of(*name)) return nullptr;
  const CheckpointReader reader((folder / *name).string());
  const auto text = reader.header().texts.find(kTokenizerText);
  return text == reader.header().texts.end() ? nullptr : tokenizer_from_json(Json::parse(text->second));
}

// Of the deck's kind, of the newest checkpoint, of the deck's files: the folder alone is enough for the first two.
void find_tokenizer(RunRecord& run) {
  run.no_tokenizer = "the run names none";
  const auto from = [&run](const auto& open) {
    if (run.tokenizer) return;
    try {
      run.tokenizer = open();
    } catch (const std::exception& error) {  // whatever is wrong with it, the text of the rollouts is still there
      run.no_tokenizer = error.what();
    }
  };
  if (run.deck) from([&] { return kind_tokenizer(*run.deck); });
  from([&] { return checkpoint_tokenizer(run.folder / "checkpoints"); });
  if (run.deck && !run.deck->tokenizer.path.empty()) from([&] { return deck_tokenizer(*run.deck); });
  if (run.deck && !run.deck->model.path.empty()) from([&] { return open_tokenizer(run.deck->model.path); });
}

}  // namespace

RunRecord read_run(const std::filesystem::path& folder, int iterations) {
  RunRecord run;
  run.folder = folder;
  const std::filesystem::path clean = std::filesystem::absolute(folder).lexically_normal();
  run.name = (clean.has_filename() ? clean : clean.parent_path()).filename().string();
  std::ifstream metrics(folder / "metrics.jsonl");
  if (!metrics) {
    throw Error(ExitCode::no_input, Fault{folder.string(), "this is no run folder: it has no readable metrics.jsonl",
                                          "a folder that `maxplus train` wrote ([run] out)", ""});
  }
  read_metrics(metrics, run);
  std::ifstream manifest(folder / "manifest.json");
  if (manifest) run.manifest = Json::parse(manifest, nullptr, false);
  if (!run.manifest.is_object()) run.manifest = Json::object();
  run.deck = deck_of(folder);
  run.title = title_of(run);
  run.rollouts = read_examples(folder / "rollouts.jsonl", iterations);
  if (!run.rollouts.empty()) find_tokenizer(run);
  return run;
}

const Points& points_of(const RunRecord& run, std::string_view metric) {
  static const Points kNone;
  const auto found = run.metrics.find(metric);
  return found == run.metrics.end() ? kNone : found->second;
}

double last_of(const RunRecord& run, std::string_view metric) {
  const Points& points = points_of(run, metric);
  return points.y.empty() ? std::numeric_limits<double>::quiet_NaN() : points.y.back();
}

}  // namespace maxplus
