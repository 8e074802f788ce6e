#pragma once
// One iteration of a run as bars along its time: a row a role, what bounds it in full colour.

#include <string>
#include <vector>

#include "run/report/chart.hpp"
#include "run/report/schedule_replay.hpp"

namespace maxplus {

struct TimelineFigure {
  struct Bar {
    std::string text;               // "generation of iteration 9"
    double begin_s = 0, end_s = 0;  // from the beginning of the iteration
    int colour = 0;
    bool critical = false;
  };
  struct Row {
    std::string role;
    std::vector<Bar> bars;
  };
  std::string name, title, sentence, meaning;
  std::vector<Row> rows;
};

// The iteration whose time is the median; `of_run` is put behind the title.
TimelineFigure timeline_of(const ScheduleReplay& replay, const std::string& name, const std::string& of_run);

std::string timeline_svg(const TimelineFigure& figure, ChartUse use);

}  // namespace maxplus
