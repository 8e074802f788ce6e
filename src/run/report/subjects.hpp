#pragma once
// What a figure compares: single runs, or runs of one deck that differ in their seed alone, taken together.

#include <string>
#include <string_view>
#include <vector>

#include "run/report/run_record.hpp"

namespace maxplus {

struct Subject {
  std::string name;
  std::vector<const RunRecord*> runs;  // more than one: seeds of one deck
  bool of_seeds() const { return runs.size() > 1; }
};

// In the order of the runs. Runs are taken together where their decks agree in all that decides a run but the seed,
// and their seeds differ.
std::vector<Subject> subjects_of(const std::vector<RunRecord>& runs);

// A line with what it may be drawn in; low and high are empty where nothing tells them.
struct BandedPoints {
  std::vector<double> x, y, low, high;
};
// Of seeds: their mean, least and largest at the iterations that all of them have. A run that ended early ends the
// line, so that it never becomes a mean of the survivors.
BandedPoints over_seeds(const Subject& subject, std::string_view metric);

}  // namespace maxplus
