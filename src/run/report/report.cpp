#include "run/report/report.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "io/file.hpp"
#include "run/json_lines.hpp"
#include "run/report/figures.hpp"
#include "run/report/page.hpp"
#include "run/report/rollout_panel.hpp"
#include "run/report/schedule_replay.hpp"
#include "run/report/tensorboard.hpp"
#include "run/report/timeline.hpp"

namespace maxplus {

namespace fs = std::filesystem;

std::string Report::lines() const {
  std::string text;
  for (const Alarm& alarm : alarms) text += alarm.line() + "\n";
  for (const fs::path& path : events) text += path.string() + "\n";
  return text + page.string() + "\n";
}

std::string Report::json() const {
  Json object = Json::object();
  object["page"] = page.string();
  for (const auto& [key, paths] : {std::pair{"figures", &figures}, std::pair{"tensorboard", &events}}) {
    object[key] = Json::array();
    for (const fs::path& path : *paths) object[key].push_back(path.string());
  }
  object["alarms"] = Json::array();
  for (const Alarm& alarm : alarms) {
    object["alarms"].push_back({{"alarm", alarm.rule->name},
                                {"run", alarm.run},
                                {"iteration", std::llround(alarm.finding.iteration)},
                                {"found", alarm.finding.text},
                                {"advice", alarm.rule->advice}});
  }
  object["schedules"] = schedules;
  return json_line(object) + "\n";
}

namespace {

// One a run; runs whose folders have the same name are numbered.
std::vector<fs::path> event_folders(const std::vector<RunRecord>& runs, const fs::path& out,
                                    const ReportOptions& options) {
  std::vector<fs::path> folders;
  std::set<std::string> taken;
  for (const RunRecord& run : runs) {
    std::string name = run.name;
    for (int k = 2; !taken.insert(name).second; ++k) name = fmt::format("{}-{}", run.name, k);
    folders.push_back(options.tensorboard == ReportOptions::TensorBoard::under_out ? out / "tensorboard" / name
                                                                                   : run.folder / "tensorboard");
  }
  return folders;
}

}  // namespace

Report write_report(const std::vector<fs::path>& runs, const fs::path& out, const ReportOptions& options) {
  MAXPLUS_REQUIRE(!runs.empty(), "a report is of at least one run");
  const int iterations = std::max(2, kPanelIterations / static_cast<int>(runs.size()));
  std::vector<RunRecord> records;
  for (const fs::path& folder : runs) records.push_back(read_run(folder, iterations));
  std::error_code error;
  fs::create_directories(out, error);
  if (error)
    throw Error(ExitCode::cannot_create, Fault{out.string(), "the folder cannot be made: " + error.message(), "", ""});
  Report report;
  const std::vector<Figure> figures = report_figures(records);
  for (const Figure& figure : figures) {
    report.figures.push_back(out / (figure.chart.name + ".svg"));
    write_text_file(report.figures.back(),
                    "<?xml version='1.0' encoding='UTF-8'?>\n" + svg_of(figure.chart, ChartUse::file));
  }
  std::vector<TimelineFigure> timelines;
  for (std::size_t r = 0; r < records.size(); ++r) {
    const std::optional<ScheduleReplay> replay = replay_schedule(records[r]);
    if (!replay) continue;
    Json schedule = replay->json();
    schedule["run"] = records[r].name;
    report.schedules.push_back(std::move(schedule));
    const bool several = records.size() > 1;
    timelines.push_back(timeline_of(*replay, several ? fmt::format("timeline-{}", r + 1) : "timeline",
                                    several ? fmt::format(": {}", records[r].name) : ""));
    report.figures.push_back(out / (timelines.back().name + ".svg"));
    write_text_file(report.figures.back(),
                    "<?xml version='1.0' encoding='UTF-8'?>\n" + timeline_svg(timelines.back(), ChartUse::file));
  }
  for (const RunRecord& run : records) {
    for (Alarm& alarm : alarms_of(run)) report.alarms.push_back(std::move(alarm));
  }
  report.page = out / "index.html";
  write_text_file(report.page, report_page(records, figures, timelines, report.alarms));
  if (options.tensorboard != ReportOptions::TensorBoard::none) {
    for (const fs::path& folder : event_folders(records, out, options))
      report.events.push_back(write_tensorboard(records[report.events.size()], folder));
  }
  return report;
}

}  // namespace maxplus
