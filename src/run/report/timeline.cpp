#include "run/report/timeline.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <utility>

#include <fmt/format.h>

namespace maxplus {

namespace {

constexpr double kRowHeight = 30, kBarHeight = 20, kRoleWidth = 84, kBarsWidth = 640, kBarsTop = 34;
constexpr double kLetterWidth = 6.7;  // mean width of the 12 pixel font
constexpr double kLeastWidth = 0.4;   // pixels of a bar that can be seen

struct BarStage {
  Stage stage;
  const char* word;
  int colour;  // of the figure of stages
  std::size_t row;
};

// Rows: generator, judge, actor. Judging after the drawing stands in the generator's row.
std::array<BarStage, 8> bar_stages(const ScheduleKind& kind) {
  const std::size_t judge = kind.granularity == Granularity::group ? 1 : 0;
  return {
      {{Stage::opening, "checkpoint", 5, 2},
       {Stage::generation, word_of(kind, Stage::generation), 0, stands_for_waiting(kind, Stage::generation) ? 2U : 0U},
       {Stage::assessment, "assessment", 1, judge},
       {Stage::settling, "assessment", 1, judge},
       {Stage::scoring, "scoring", 6, 2},
       {Stage::training, "training", 2, 2},
       {Stage::hand_off, "hand-off", 3, 2},
       {Stage::closing, "evaluation", 4, 0}}};
}

// The span in which all of a step happens.
std::pair<double, double> span_of(const Timeline& line, std::size_t step) {
  double begin = std::numeric_limits<double>::infinity(), end = 0;
  for (std::size_t s = 0; s < line.begin[step].size(); ++s) {
    if (line.end[step][s] == line.begin[step][s]) continue;
    begin = std::min(begin, line.begin[step][s]);
    end = std::max(end, line.end[step][s]);
  }
  return {std::min(begin, end), end};
}

std::size_t median_step(const Timeline& line) {
  std::vector<std::size_t> steps(line.begin.size());
  std::iota(steps.begin(), steps.end(), std::size_t{0});
  const auto length = [&line](std::size_t step) {
    const auto [begin, end] = span_of(line, step);
    return end - begin;
  };
  std::sort(steps.begin(), steps.end(), [&](std::size_t a, std::size_t b) { return length(a) < length(b); });
  return steps[(steps.size() - 1) / 2];
}

std::string bar_svg(const TimelineFigure::Bar& bar, double top, double pixels_a_second) {
  const double x = kRoleWidth + bar.begin_s * pixels_a_second;
  const double width = (bar.end_s - bar.begin_s) * pixels_a_second;
  if (width < kLeastWidth) return "";
  std::string svg = fmt::format(
      "<g><title>{}: {} s</title><rect x='{:.1f}' y='{:.1f}' width='{:.1f}' height='{:g}' rx='2' fill-opacity='{}' "
      "{}/>",
      escape(bar.text), number_text(bar.end_s - bar.begin_s), x, top, width, kBarHeight, bar.critical ? "0.85" : "0.4",
      filled(bar.colour));
  if (kLetterWidth * static_cast<double>(bar.text.size()) + 8 < width)
    svg += fmt::format("<text x='{:.1f}' y='{:.1f}'>{}</text>", x + 4, top + 14, escape(bar.text));
  return svg + "</g>\n";
}

}  // namespace

TimelineFigure timeline_of(const ScheduleReplay& replay, const std::string& name, const std::string& of_run) {
  const std::size_t step = median_step(replay.line);
  const double iteration = replay.iteration[replay.first + step];
  TimelineFigure figure;
  figure.name = name;
  figure.title = fmt::format("Iteration {:.0f}", iteration) + of_run;
  figure.sentence = replay.sentence();
  figure.meaning =
      "The iteration of median length, as the schedule's event graph plays it from the measured times of its stages. "
      "In full colour what bounds most iterations; what is pale could take longer.";
  if (replay.kind.shared == SharedRanks::all) figure.meaning += " Some ranks have both roles, and draw first.";
  figure.rows = {{"generator", {}}, {"judge", {}}, {"actor", {}}};
  const double begin = span_of(replay.line, step).first;
  const Schedule schedule(replay.kind);
  for (const BarStage& row : bar_stages(replay.kind)) {
    const auto stage = static_cast<std::size_t>(row.stage);
    TimelineFigure::Bar bar;
    bar.begin_s = replay.line.begin[step][stage] - begin;
    bar.end_s = replay.line.end[step][stage] - begin;
    if (!(bar.end_s > bar.begin_s)) continue;
    const std::int64_t lead = schedule.lead(row.stage);
    bar.text =
        lead == 0 ? row.word : fmt::format("{} of iteration {:.0f}", row.word, iteration + static_cast<double>(lead));
    bar.colour = row.colour;
    bar.critical = replay.critical[stage];
    figure.rows[row.row].bars.push_back(std::move(bar));
  }
  std::erase_if(figure.rows, [](const TimelineFigure::Row& row) { return row.bars.empty(); });
  return figure;
}

std::string timeline_svg(const TimelineFigure& figure, ChartUse use) {
  double longest = 0;
  for (const TimelineFigure::Row& row : figure.rows) {
    for (const TimelineFigure::Bar& bar : row.bars) longest = std::max(longest, bar.end_s);
  }
  const double pixels_a_second = longest > 0 ? kBarsWidth / longest : 0;
  const double bottom = kBarsTop + kRowHeight * static_cast<double>(figure.rows.size());
  std::string svg = svg_head(figure.title, kRoleWidth + kBarsWidth + 12, bottom + 40, use);
  double top = kBarsTop;
  for (const TimelineFigure::Row& row : figure.rows) {
    svg += fmt::format("<text x='4' y='{:.1f}'>{}</text>\n", top + 14, escape(row.role));
    for (const TimelineFigure::Bar& bar : row.bars) svg += bar_svg(bar, top, pixels_a_second);
    top += kRowHeight;
  }
  svg += fmt::format("<line class='axis' x1='{0:g}' x2='{1:g}' y1='{2:g}' y2='{2:g}' stroke='#888'/>\n", kRoleWidth,
                     kRoleWidth + kBarsWidth, bottom);
  if (longest > 0) {
    const std::vector<double> ticks = round_ticks(0, longest, 6);
    for (const double v : ticks) {
      if (v > longest * 1.001) continue;
      svg += fmt::format("<text x='{:.1f}' y='{:.1f}' text-anchor='middle'>{}</text>\n",
                         kRoleWidth + v * pixels_a_second, bottom + 17, tick_text(v, ticks[1] - ticks[0]));
    }
  }
  svg += fmt::format("<text class='quiet' x='{:.1f}' y='{:.1f}' text-anchor='end' fill='#5c5c5c'>seconds</text>\n",
                     kRoleWidth + kBarsWidth, bottom + 34);
  return svg + "</svg>\n";
}

}  // namespace maxplus
