#pragma once
// Which figures a report has: names, meanings and the metrics they show.

#include <vector>

#include "run/report_chart.hpp"
#include "run/report_data.hpp"

namespace maxplus {

// Figures for which no run has data are left out. With several runs, labels begin with the run's name.
std::vector<Chart> report_figures(const std::vector<RunRecord>& runs);

}  // namespace maxplus
