#pragma once
// The report of one or more runs: a page that needs no network and no scripts, its figures as files, and alarms.

#include <filesystem>
#include <vector>

#include "run/report/alarms.hpp"

namespace maxplus {

struct ReportOptions {
  // beside_run: RUN/tensorboard; under_out: out/tensorboard/NAME
  enum class TensorBoard { none, beside_run, under_out } tensorboard = TensorBoard::none;
};

struct Report {
  std::filesystem::path page;
  std::vector<std::filesystem::path> figures, events;
  std::vector<Alarm> alarms;       // of the runs in their order
  Json schedules = Json::array();  // what bounded each run that drew, in their order

  std::string lines() const;  // a line an alarm, then the page
  std::string json() const;
};

// Reads run folders (metrics.jsonl is needed, manifest.json, deck.toml and rollouts.jsonl are used where they exist)
// and writes out/index.html and out/<figure>.svg. With several runs each figure shows all of them. Throws
// Error(ExitCode::no_input) for a folder that is no run, Error(ExitCode::cannot_create) and Error(ExitCode::io).
Report write_report(const std::vector<std::filesystem::path>& runs, const std::filesystem::path& out,
                    const ReportOptions& options);

}  // namespace maxplus
