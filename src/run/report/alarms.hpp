#pragma once
// Rules over the metrics of a run that tell trouble early, each with one line of advice.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "run/report/run_record.hpp"

namespace maxplus {

// What a rule found in a run.
struct Finding {
  double iteration = 0;  // where it shows
  std::string text;      // "entropy_mean fell from 0.61 to 0.012"
};

// A test over metrics, with the words in which it is published.
struct AlarmTest {
  std::string condition;
  std::function<std::optional<Finding>(const RunRecord&)> find;
};

struct AlarmRule {
  const char* name;
  AlarmTest test;
  const char* advice;
};
const std::vector<AlarmRule>& alarm_rules();

struct Alarm {
  std::string run;
  const AlarmRule* rule = nullptr;
  Finding finding;
  std::string line() const;  // "alarm: NAME: run 'first', iteration 120: ...; try: ..."
};
// In the order of the rules.
std::vector<Alarm> alarms_of(const RunRecord& run);

// The table of docs/report.md.
std::string alarms_markdown();

}  // namespace maxplus
