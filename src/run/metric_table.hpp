#pragma once
// Every name that may stand in metrics.jsonl and updates.jsonl, with its unit and meaning; docs/metrics.md is made from
// it.

#include <span>
#include <string>
#include <string_view>

namespace maxplus {

struct Metric {
  std::string_view name;     // <...> stands for any text without '<'
  std::string_view unit;     // "" for counts and shares
  std::string_view meaning;  // one line
  std::string_view verl;     // the nearest name there, or ""
  std::string_view trl;
};

std::span<const Metric> metric_table();
// Null if the table does not have it.
const Metric* find_metric(std::string_view name);
// docs/metrics.md
std::string metrics_markdown();

}  // namespace maxplus
