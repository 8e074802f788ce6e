#pragma once
// The report as one HTML file: no network, no scripts, light and dark, from a phone to a wide screen.

#include <string>
#include <vector>

#include "run/report/alarms.hpp"
#include "run/report/figures.hpp"
#include "run/report/run_record.hpp"
#include "run/report/timeline.hpp"

namespace maxplus {

std::string report_page(const std::vector<RunRecord>& runs, const std::vector<Figure>& figures,
                        const std::vector<TimelineFigure>& timelines, const std::vector<Alarm>& alarms);

// The style sheet; page_style.cpp.
std::string page_style();

}  // namespace maxplus
