#pragma once
// Which figures a report has: names, meanings and the metrics they show.

#include <string>
#include <vector>

#include "run/report/chart.hpp"
#include "run/report/run_record.hpp"

namespace maxplus {

struct Figure {
  std::string group;  // the heading under which it stands
  Chart chart;
};

// Figures for which no run has data are left out, and curves likewise. With several runs, labels begin with a name,
// colours stand for runs and dashes for curves; seeds of one deck are one line with a band.
std::vector<Figure> report_figures(const std::vector<RunRecord>& runs);

}  // namespace maxplus
