#pragma once
// Lines of metrics.jsonl and updates.jsonl, and the statistics that go into them.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "rl/sample.hpp"
#include "run/json_lines.hpp"

namespace maxplus {

struct StepReport;   // roles/trainer.hpp
struct ValueReport;  // roles/value_step.hpp

// One flat line. Names must be in run/metric_table.cpp; a number that is not finite is left out, as is what was never
// set.
class MetricsRow {
 public:
  void set(std::string_view name, std::int64_t value);
  void set(std::string_view name, int value) { set(name, static_cast<std::int64_t>(value)); }
  void set(std::string_view name, double value);
  void set(std::string_view name, std::string_view text);
  void set(std::string_view name, const char* text) { set(name, std::string_view(text)); }
  void set(std::string_view name, const std::string& text) { set(name, std::string_view(text)); }
  bool has(std::string_view name) const;
  double number(std::string_view name) const;  // NaN if absent

  Json line() const;               // "schema" and "iteration" first, then the order of setting
  nlohmann::json to_json() const;  // for a checkpoint; keeps the order
  static MetricsRow from_json(const nlohmann::json& saved);

 private:
  Json values_ = Json::object();
};

// rollouts, groups, reward, accuracy, verdicts, lengths, advantages of an iteration's experiences in rollout order, in
// double. `part_names` names the parts of the reward, if it has parts. No verdicts where a reward model alone gave the
// rewards (scored), nothing of rewards where a file said which answer is good (given).
enum class Rewards : std::uint8_t { judged, scored, given };
void add_rollout_statistics(MetricsRow* row, std::span<const Experience> experiences,
                            const std::vector<std::string>& part_names, Rewards rewards = Rewards::judged);

// What one update tells (a line of updates.jsonl), and what the updates of an iteration tell together. Nothing is set
// that no token was trained for.
void add_step_statistics(MetricsRow* row, const StepReport& step);
void add_step_statistics(MetricsRow* row, std::span<const StepReport> steps);
// Of the critic's updates, if there were any.
void add_value_statistics(MetricsRow* row, std::span<const ValueReport> values);
// Of the values before the iteration's first update against what they are to be.
void add_explained_variance(MetricsRow* row, std::span<const Experience> experiences);

}  // namespace maxplus
