#include "run/report/schedule_replay.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "plan/critical_path.hpp"
#include "run/partial_rollouts.hpp"
#include "run/role_placement.hpp"

namespace maxplus {

namespace {

constexpr double kWorthNaming = 0.05;   // share of an iteration from which a stage stands in the sentence
constexpr double kWorthWaiting = 0.01;  // the same of a wait
constexpr double kUnexplained = 0.10;   // share of the time in no stage from which the sentence says so

std::size_t place(Stage stage) { return static_cast<std::size_t>(stage); }

// The value at an iteration; what a line does not have took no time.
double seconds_at(const RunRecord& run, const char* metric, double iteration) {
  const Points& points = points_of(run, metric);
  const auto found = std::lower_bound(points.x.begin(), points.x.end(), iteration);
  if (found == points.x.end() || *found != iteration) return 0;
  return std::max(0.0, points.y[static_cast<std::size_t>(found - points.x.begin())]);
}

// Ranks without roles, as in the manifest of an older run, have all of them.
SharedRanks shared_ranks(const RunRecord& run) {
  const auto map = run.manifest.find("rank_map");
  if (map == run.manifest.end() || !map->is_array()) return SharedRanks::all;
  for (const Json& rank : *map) {
    if (!rank.is_object() || !rank.contains("roles") || !rank["roles"].is_array()) return SharedRanks::all;
    const Json& roles = rank["roles"];
    const auto has = [&roles](const char* role) { return std::find(roles.begin(), roles.end(), role) != roles.end(); };
    if ((has("generator") || has("reward")) && (has("actor") || has("critic") || has("reference")))
      return SharedRanks::all;
  }
  return SharedRanks::generator_judges;
}

// How far generation is ahead in the graph.
std::int64_t lead_of(const ScheduleKind& kind) { return kind.staleness == Staleness::exact ? kind.max_staleness : 0; }

std::vector<double> times_at(const RunRecord& run, const ScheduleKind& kind, double iteration, double iterations) {
  const auto seconds = [&](const char* metric) { return seconds_at(run, metric, iteration); };
  std::vector<double> times(kStages, 0.0);
  double& drawing = times[place(Stage::generation)] = seconds("seconds_generation");
  double& judging = times[place(Stage::assessment)] =
      std::max(0.0, seconds("seconds_assessment") - seconds("seconds_scoring"));
  double& settling = times[place(Stage::settling)];
  if (kind.granularity == Granularity::group)
    settling = std::max(0.0, seconds("seconds_drawing") - std::max(drawing, judging));
  times[place(Stage::opening)] = seconds("seconds_checkpoint");
  times[place(Stage::scoring)] = seconds("seconds_scoring");
  times[place(Stage::training)] = seconds("seconds_training");
  times[place(Stage::hand_off)] = seconds("seconds_weight_handoff");
  times[place(Stage::closing)] = seconds("seconds_evaluation");
  if (stands_for_waiting(kind, Stage::generation)) {
    // Drawing goes on beside all else: what a step waited for stands in its place.
    drawing = seconds("seconds_awaited");
    judging = settling = 0;
  }
  if (iteration == 1 && lead_of(kind) > 0) {
    // The first line has the drawings of all iterations that generation gets ahead by; the last is beside the training.
    const auto lead = static_cast<double>(lead_of(kind));
    const double drawn = std::min(1.0 + lead, iterations);
    const double beside = drawn > lead ? 1.0 / drawn : 0.0;
    for (double* part : {&drawing, &judging, &settling}) {
      times[place(Stage::opening)] += (1.0 - beside) * *part;
      *part *= beside;
    }
  }
  return times;
}

std::vector<double> means_of(const StepTimes& times) {
  std::vector<double> means(kStages, 0.0);
  for (const std::vector<double>& step : times) {
    for (std::size_t s = 0; s < means.size(); ++s) means[s] += step[s] / static_cast<double>(times.size());
  }
  return means;
}

// Lines at the start, where generation gets ahead, and at the end, where nothing is left to draw, stand apart.
void choose_steady(ScheduleReplay& replay, double iterations) {
  const auto eta = static_cast<double>(lead_of(replay.kind));
  replay.first = 0, replay.last = replay.iteration.size() - 1;
  if (eta == 0) return;
  std::size_t first = replay.first, last = replay.last;
  while (first < last && replay.iteration[first] <= 1) ++first;
  while (last > first && replay.iteration[last] + eta > iterations) --last;
  if (replay.iteration[first] > 1 && replay.iteration[last] + eta <= iterations)
    replay.first = first, replay.last = last;
}

void find_bounds(ScheduleReplay& replay, const EventGraph& graph) {
  const StepTimes steady(replay.times.begin() + static_cast<std::ptrdiff_t>(replay.first),
                         replay.times.begin() + static_cast<std::ptrdiff_t>(replay.last) + 1);
  replay.line = graph.evaluate(steady);
  const CriticalPath path = critical_path(graph, replay.line);
  const StepTimes spare = spare_seconds(graph, replay.line);
  const double makespan = replay.line.makespan();
  replay.share.assign(kStages, 0.0);
  replay.waits_s = replay.share;
  std::vector<std::size_t> steps_on_path(kStages, 0);
  for (const CriticalPath::Event& event : path.events) ++steps_on_path[static_cast<std::size_t>(event.node)];
  for (std::size_t s = 0; s < replay.share.size(); ++s) {
    replay.critical.push_back(2 * steps_on_path[s] > steady.size());
    if (makespan > 0) replay.share[s] = path.seconds[s] / makespan;
    double steps = 0;
    for (std::size_t k = 0; k < steady.size(); ++k) {
      if (!(steady[k][s] > 0)) continue;
      replay.waits_s[s] += spare[k][s];
      ++steps;
    }
    if (steps > 0) replay.waits_s[s] /= steps;
  }
  replay.share[place(Stage::assessment)] += std::exchange(replay.share[place(Stage::settling)], 0.0);
  const auto largest = std::max_element(replay.share.begin(), replay.share.end());
  replay.bound = static_cast<Stage>(largest - replay.share.begin());
}

}  // namespace

bool stands_for_waiting(const ScheduleKind& kind, Stage stage) {
  return stage == Stage::generation && kind.staleness == Staleness::bounded && kind.shared != SharedRanks::all;
}

const char* word_of(const ScheduleKind& kind, Stage stage) {
  if (stands_for_waiting(kind, stage)) return "waiting for rollouts";
  if (stage == Stage::opening) return "checkpoint";
  if (stage == Stage::closing) return "evaluation";
  return name_of(stage);
}

std::optional<ScheduleReplay> replay_schedule(const RunRecord& run) {
  if (!run.deck || points_of(run, "seconds_generation").y.empty()) return std::nullopt;
  if (generation_lead(*run.deck) < 0) return std::nullopt;  // a deck that was changed by hand
  ScheduleReplay replay;
  replay.kind = schedule_kind(*run.deck, shared_ranks(run));
  const auto iterations = static_cast<double>(run.deck->run.iterations);
  for (const double iteration : points_of(run, "seconds_iteration").x) {
    if (iteration < 1) continue;
    replay.iteration.push_back(iteration);
    replay.times.push_back(times_at(run, replay.kind, iteration, iterations));
    for (const char* metric : {"seconds_iteration", "seconds_evaluation", "seconds_checkpoint"})
      replay.measured_s += seconds_at(run, metric, iteration);
  }
  if (replay.times.empty()) return std::nullopt;
  const Schedule schedule(replay.kind);
  const EventGraph& graph = schedule.graph();
  const std::vector<double> means = means_of(replay.times);
  replay.replayed_s = graph.evaluate(replay.times).makespan();
  replay.from_means_s = graph.evaluate(StepTimes(replay.times.size(), means)).makespan();
  replay.period_s = graph.slowest_cycle(means).period;
  choose_steady(replay, iterations);
  find_bounds(replay, graph);
  if (!(replay.line.makespan() > 0) || !std::isfinite(replay.replayed_s)) return std::nullopt;
  return replay;
}

std::string ScheduleReplay::sentence() const {
  std::string text =
      fmt::format("{} bounds this run: {:.0f} % of an iteration", word_of(kind, bound), 100 * share[place(bound)]);
  std::vector<Stage> others;
  for (std::size_t s = 0; s < share.size(); ++s) {
    if (static_cast<Stage>(s) != bound && share[s] >= kWorthNaming) others.push_back(static_cast<Stage>(s));
  }
  std::stable_sort(others.begin(), others.end(),
                   [this](Stage a, Stage b) { return share[place(a)] > share[place(b)]; });
  for (const Stage stage : others)
    text += fmt::format(", {} {:.0f} %", word_of(kind, stage), 100 * share[place(stage)]);
  // Judging after the drawing waits as long as that.
  std::vector<Stage> chains = {Stage::generation, Stage::training};
  if (kind.granularity == Granularity::group) chains.push_back(Stage::assessment);
  const auto took_time = [this](Stage stage) {
    double seconds = 0;
    for (std::size_t k = first; k <= last; ++k) seconds += times[k][place(stage)];
    return seconds > kWorthWaiting * line.makespan();
  };
  for (const Stage stage : chains) {
    if (stage != bound && !stands_for_waiting(kind, stage) && took_time(stage) &&
        waits_s[place(stage)] > kWorthWaiting * iteration_s())
      text += fmt::format("; {} waits {:.2g} s", name_of(stage), waits_s[place(stage)]);
  }
  const double in_no_stage = measured_s > 0 ? 1 - replayed_s / measured_s : 0;
  if (in_no_stage > kUnexplained) text += fmt::format("; {:.0f} % of the time lies in no stage", 100 * in_no_stage);
  return text;
}

Json ScheduleReplay::json() const {
  Json object = {{"iterations", iteration.size()}, {"measured_s", measured_s}, {"replayed_s", replayed_s},
                 {"from_means_s", from_means_s},   {"period_s", period_s},     {"bound", word_of(kind, bound)}};
  Json shares = Json::object(), waits = Json::object();
  for (std::size_t s = 0; s < share.size(); ++s) {
    if (share[s] > 0) shares[word_of(kind, static_cast<Stage>(s))] = share[s];
    if (waits_s[s] > 1e-9 * iteration_s()) waits[word_of(kind, static_cast<Stage>(s))] = waits_s[s];
  }
  object["share"] = std::move(shares);
  object["waits_s"] = std::move(waits);
  object["sentence"] = sentence();
  return object;
}

}  // namespace maxplus
