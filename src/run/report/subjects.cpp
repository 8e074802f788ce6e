#include "run/report/subjects.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "deck/deck.hpp"

namespace maxplus {

namespace {

// All that decides a run but the seed; where and how it ran does not.
nlohmann::json what_is_run(const Deck& deck) {
  nlohmann::json record = deck_record(deck);
  record.erase("title");
  record["run"] = deck.run.iterations;
  return record;
}

bool are_seeds_of_one_deck(const RunRecord& a, const RunRecord& b) {
  return a.deck && b.deck && a.deck->run.seed != b.deck->run.seed && what_is_run(*a.deck) == what_is_run(*b.deck);
}

}  // namespace

std::vector<Subject> subjects_of(const std::vector<RunRecord>& runs) {
  std::vector<Subject> subjects;
  for (const RunRecord& run : runs) {
    const auto found = std::find_if(subjects.begin(), subjects.end(), [&run](const Subject& subject) {
      return std::all_of(subject.runs.begin(), subject.runs.end(),
                         [&run](const RunRecord* other) { return are_seeds_of_one_deck(*other, run); });
    });
    if (found == subjects.end()) {
      subjects.push_back({run.name, {&run}});
    } else {
      found->runs.push_back(&run);
    }
  }
  for (Subject& subject : subjects) {
    if (subject.of_seeds()) subject.name = fmt::format("{} and {} more seeds", subject.name, subject.runs.size() - 1);
  }
  return subjects;
}

BandedPoints over_seeds(const Subject& subject, std::string_view metric) {
  std::map<double, std::vector<double>> at;
  for (const RunRecord* run : subject.runs) {
    const Points& points = points_of(*run, metric);
    for (std::size_t i = 0; i < points.x.size(); ++i) at[points.x[i]].push_back(points.y[i]);
  }
  BandedPoints all;
  for (const auto& [x, values] : at) {
    if (values.size() != subject.runs.size()) continue;
    double sum = 0;
    for (const double v : values) sum += v;
    all.x.push_back(x);
    all.y.push_back(sum / static_cast<double>(values.size()));
    all.low.push_back(*std::min_element(values.begin(), values.end()));
    all.high.push_back(*std::max_element(values.begin(), values.end()));
  }
  return all;
}

}  // namespace maxplus
