#include "run/report/alarm_tests.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "run/report/chart.hpp"

namespace maxplus {

namespace {

constexpr std::size_t kTrendPoints = 10;  // with fewer, a start and an end are hardly two things

double mean_of(const std::vector<double>& values, std::size_t first, std::size_t last) {
  double sum = 0;
  for (std::size_t i = first; i < last; ++i) sum += values[i];
  return sum / static_cast<double>(last - first);
}

std::size_t tenth_of(std::size_t n) { return std::min(n, std::max<std::size_t>(3, n / 10)); }

bool is_stale(const RunRecord& run) {
  const Points& staleness = points_of(run, "staleness_max");
  return std::any_of(staleness.y.begin(), staleness.y.end(), [](double v) { return v > 0; });
}

// Whether drawing and training should find the same probabilities.
bool draws_as_it_trains(const RunRecord& run) {
  const bool one_precision =
      !run.deck || run.deck->generation.compute.value_or(run.deck->model.compute) == run.deck->model.compute;
  return one_precision && !is_stale(run);
}

std::optional<double> value_at(const Points& points, double iteration) {
  const auto found = std::lower_bound(points.x.begin(), points.x.end(), iteration);
  if (found == points.x.end() || *found != iteration) return std::nullopt;
  return points.y[static_cast<std::size_t>(found - points.x.begin())];
}

// The first value of which `wrong` says yes, with how many there are.
std::optional<Finding> first_wrong(const RunRecord& run, const char* metric, const char* relation, double limit,
                                   const std::function<bool(double)>& wrong) {
  const Points& points = points_of(run, metric);
  std::optional<Finding> found;
  std::size_t times = 0;
  for (std::size_t i = 0; i < points.x.size(); ++i) {
    if (!wrong(points.y[i])) continue;
    if (++times == 1)
      found = Finding{points.x[i],
                      fmt::format("{} is {}, {} {}", metric, number_text(points.y[i]), relation, number_text(limit))};
  }
  if (found) found->text += fmt::format(" (in {} of {} iterations)", times, points.x.size());
  return found;
}

// Shares of rollouts over lines [first, last) of the count.
std::optional<Finding> share_above(const RunRecord& run, const char* count, double limit, std::size_t first,
                                   std::size_t last) {
  const Points &counts = points_of(run, count), &rollouts = points_of(run, "rollouts");
  double sum = 0, all = 0, where = -1;
  for (std::size_t i = first; i < last; ++i) {
    const std::optional<double> drawn = value_at(rollouts, counts.x[i]);
    if (!drawn) continue;
    all += *drawn;
    sum += counts.y[i];
    if (where < 0 && counts.y[i] > 0) where = counts.x[i];
  }
  if (!(all > 0) || !(sum / all > limit)) return std::nullopt;
  return Finding{where, fmt::format("{} is {} of {} rollouts", count, number_text(sum), number_text(all))};
}

std::string percent(double share) { return fmt::format("{:g} %", 100 * share); }

}  // namespace

std::optional<Trend> trend_of(const RunRecord& run, const char* metric, std::size_t least) {
  const Points& points = points_of(run, metric);
  const std::size_t n = points.y.size();
  if (n < std::max<std::size_t>(least, 1)) return std::nullopt;
  const std::size_t part = tenth_of(n);
  return Trend{mean_of(points.y, 0, part), mean_of(points.y, n - part, n), points.x.back()};
}

AlarmTest ever_above_on_policy(const char* metric, double limit) {
  return {fmt::format("`{}` is ever above {:g}, without staleness and another [generation] compute", metric, limit),
          [=](const RunRecord& run) -> std::optional<Finding> {
            if (!draws_as_it_trains(run)) return std::nullopt;
            return first_wrong(run, metric, "above", limit, [limit](double v) { return v > limit; });
          }};
}

AlarmTest ever_below_on_policy(const char* metric, double limit) {
  return {fmt::format("`{}` is ever below {:g}, without staleness and another [generation] compute", metric, limit),
          [=](const RunRecord& run) -> std::optional<Finding> {
            if (!draws_as_it_trains(run)) return std::nullopt;
            return first_wrong(run, metric, "below", limit, [limit](double v) { return v < limit; });
          }};
}

AlarmTest end_above(std::vector<const char*> summed, double limit) {
  std::string names;
  for (const char* metric : summed) names += fmt::format("{}`{}`", names.empty() ? "" : " + ", metric);
  return {fmt::format("{} is above {:g} at the end", names, limit),
          [=](const RunRecord& run) -> std::optional<Finding> {
            double sum = 0, where = 0;
            std::string text;
            for (const char* metric : summed) {
              const std::optional<Trend> trend = trend_of(run, metric, 1);
              if (!trend) continue;
              sum += trend->end;
              where = trend->last_iteration;
              text += fmt::format("{}{}", text.empty() ? "" : " + ", metric);
            }
            if (!(sum > limit)) return std::nullopt;
            return Finding{where, fmt::format("{} is {}, above {:g}", text, number_text(sum), limit)};
          }};
}

AlarmTest end_below(const char* metric, double limit) {
  return {fmt::format("`{}` is below {:g} at the end", metric, limit),
          [=](const RunRecord& run) -> std::optional<Finding> {
            const std::optional<Trend> trend = trend_of(run, metric, kTrendPoints);
            if (!trend || !(trend->end < limit)) return std::nullopt;
            return Finding{trend->last_iteration,
                           fmt::format("{} is {}, below {:g}", metric, number_text(trend->end), limit)};
          }};
}

AlarmTest share_of_rollouts_above(const char* count, double limit) {
  return {fmt::format("`{}` is more than {} of all rollouts", count, percent(limit)),
          [=](const RunRecord& run) { return share_above(run, count, limit, 0, points_of(run, count).x.size()); }};
}

AlarmTest end_share_of_rollouts_above(const char* count, double limit) {
  return {fmt::format("`{}` is more than {} of the rollouts at the end", count, percent(limit)),
          [=](const RunRecord& run) {
            const std::size_t n = points_of(run, count).x.size();
            return share_above(run, count, limit, n - tenth_of(n), n);
          }};
}

AlarmTest falls_below(const char* metric, double share) {
  return {fmt::format("`{}` ends below {} of its start", metric, percent(share)),
          [=](const RunRecord& run) -> std::optional<Finding> {
            const std::optional<Trend> trend = trend_of(run, metric, kTrendPoints);
            if (!trend || !(trend->end < share * trend->start)) return std::nullopt;
            return Finding{trend->last_iteration, fmt::format("{} fell from {} to {}", metric,
                                                              number_text(trend->start), number_text(trend->end))};
          }};
}

AlarmTest spikes_above(const char* metric, double times) {
  return {fmt::format("`{}` is above {:g} times the median of the twenty before it", metric, times),
          [=](const RunRecord& run) -> std::optional<Finding> {
            constexpr std::size_t kBefore = 20, kLeast = 5;
            const Points& points = points_of(run, metric);
            std::optional<Finding> found;
            int spikes = 0;
            std::vector<double> before;
            for (std::size_t i = 0; i < points.y.size(); ++i) {
              std::vector<double> sorted = before;
              std::sort(sorted.begin(), sorted.end());
              const double median = sorted.empty() ? 0 : sorted[sorted.size() / 2];
              if (sorted.size() >= kLeast && points.y[i] > times * median && ++spikes == 1) {
                found = Finding{points.x[i], fmt::format("{} is {}, the median before it {}", metric,
                                                         number_text(points.y[i]), number_text(median))};
              }
              if (!(points.y[i] > 0)) continue;  // nothing was learnt there
              if (before.size() == kBefore) before.erase(before.begin());
              before.push_back(points.y[i]);
            }
            if (found && spikes > 1) found->text += fmt::format(" (and {} times more)", spikes - 1);
            return found;
          }};
}

AlarmTest iterations_above(const char* metric, double share) {
  return {fmt::format("`{}` is not 0 in more than {} of the iterations", metric, percent(share)),
          [=](const RunRecord& run) -> std::optional<Finding> {
            const Points& points = points_of(run, metric);
            const auto set = std::find_if(points.y.begin(), points.y.end(), [](double v) { return v > 0; });
            const auto times = std::count_if(points.y.begin(), points.y.end(), [](double v) { return v > 0; });
            if (!(static_cast<double>(times) > share * static_cast<double>(points.y.size()))) return std::nullopt;
            return Finding{points.x[static_cast<std::size_t>(set - points.y.begin())],
                           fmt::format("{} is not 0 in {} of {} iterations", metric, times, points.y.size())};
          }};
}

AlarmTest unless_solved(AlarmTest test) {
  constexpr double kSolved = 0.9;
  return {fmt::format("{}, with `accuracy` below {:g}", test.condition, kSolved),
          [find = test.find](const RunRecord& run) -> std::optional<Finding> {
            const std::optional<Trend> accuracy = trend_of(run, "accuracy", 1);
            return accuracy && accuracy->end >= kSolved ? std::nullopt : find(run);
          }};
}

AlarmTest entropy_rises() {
  return {"`entropy_mean` ends above twice its start, by more than 0.5",
          [](const RunRecord& run) -> std::optional<Finding> {
            const std::optional<Trend> trend = trend_of(run, "entropy_mean", kTrendPoints);
            if (!trend || !(trend->end > 2 * trend->start && trend->end > trend->start + 0.5)) return std::nullopt;
            return Finding{trend->last_iteration, fmt::format("entropy_mean rose from {} to {}",
                                                              number_text(trend->start), number_text(trend->end))};
          }};
}

AlarmTest drift_rises() {
  return {"`kl_old` ends above twice its start, by more than 0.02, with staleness",
          [](const RunRecord& run) -> std::optional<Finding> {
            const std::optional<Trend> trend = trend_of(run, "kl_old", kTrendPoints);
            if (!trend || !is_stale(run)) return std::nullopt;
            if (!(trend->end > 2 * trend->start && trend->end > trend->start + 0.02)) return std::nullopt;
            return Finding{trend->last_iteration, fmt::format("kl_old rose from {} to {}", number_text(trend->start),
                                                              number_text(trend->end))};
          }};
}

AlarmTest only_wrong_answers_grow() {
  return {"`response_length_wrong_mean` ends above 1.5 times its start, `response_length_correct_mean` below 1.1 times",
          [](const RunRecord& run) -> std::optional<Finding> {
            const std::optional<Trend> wrong = trend_of(run, "response_length_wrong_mean", kTrendPoints),
                                       right = trend_of(run, "response_length_correct_mean", kTrendPoints);
            if (!wrong || !right || !(wrong->end > 1.5 * wrong->start) || !(right->end < 1.1 * right->start))
              return std::nullopt;
            return Finding{wrong->last_iteration,
                           fmt::format("wrong answers grew from {} to {} tokens, right ones went from {} to {}",
                                       number_text(wrong->start), number_text(wrong->end), number_text(right->start),
                                       number_text(right->end))};
          }};
}

// The fall is told from noise by the intervals where they are recorded.
AlarmTest reward_rises_accuracy_falls() {
  return {"`eval_accuracy` ends more than 0.05 below its best, outside of both intervals, while `reward_mean` rose",
          [](const RunRecord& run) -> std::optional<Finding> {
            const Points& accuracy = points_of(run, "eval_accuracy");
            const Points& reward = points_of(run, "reward_mean");
            if (accuracy.y.size() < 2 || reward.y.size() < kTrendPoints) return std::nullopt;
            const auto best = std::max_element(accuracy.y.begin(), accuracy.y.end()) - accuracy.y.begin();
            const double best_at = accuracy.x[static_cast<std::size_t>(best)],
                         best_accuracy = accuracy.y[static_cast<std::size_t>(best)], last = accuracy.y.back();
            if (!(last < best_accuracy - 0.05)) return std::nullopt;
            const std::optional<double> low = value_at(points_of(run, "eval_accuracy_low"), best_at),
                                        high = value_at(points_of(run, "eval_accuracy_high"), accuracy.x.back());
            if (low && high && *high >= *low) return std::nullopt;
            const auto then = static_cast<std::size_t>(std::lower_bound(reward.x.begin(), reward.x.end(), best_at) -
                                                       reward.x.begin());
            const std::size_t part = tenth_of(reward.y.size());
            if (then + part >= reward.y.size()) return std::nullopt;
            const double before = mean_of(reward.y, then, then + part),
                         after = mean_of(reward.y, reward.y.size() - part, reward.y.size());
            if (!(after > before)) return std::nullopt;
            return Finding{best_at, fmt::format("eval_accuracy went from {} to {}, reward_mean from {} to {}",
                                                number_text(best_accuracy), number_text(last), number_text(before),
                                                number_text(after))};
          }};
}

AlarmTest reward_is_lost() {
  return {"`reward_mean` loses more than half of what it had gained, and more than 0.1",
          [](const RunRecord& run) -> std::optional<Finding> {
            const Points& reward = points_of(run, "reward_mean");
            const std::size_t n = reward.y.size(), part = tenth_of(n);
            if (n < kTrendPoints) return std::nullopt;
            const double start = mean_of(reward.y, 0, part), end = mean_of(reward.y, n - part, n);
            double best = start, where = reward.x.front(), sum = 0;
            for (std::size_t i = 0; i < n; ++i) {
              sum += reward.y[i] - (i >= part ? reward.y[i - part] : 0.0);
              if (i + 1 < part || !(sum / static_cast<double>(part) > best)) continue;
              best = sum / static_cast<double>(part);
              where = reward.x[i];
            }
            if (!(best - end > 0.5 * (best - start) && best - end > 0.1)) return std::nullopt;
            return Finding{where, fmt::format("reward_mean rose from {} to {} and fell to {}", number_text(start),
                                              number_text(best), number_text(end))};
          }};
}

AlarmTest memory_grows() {
  return {"`memory_peak_bytes` ends above 1.5 times what it was after a fifth of the run",
          [](const RunRecord& run) -> std::optional<Finding> {
            const Points& memory = points_of(run, "memory_peak_bytes");
            if (memory.y.size() < 2 * kTrendPoints) return std::nullopt;
            const double early = memory.y[memory.y.size() / 5], late = memory.y.back();
            if (!(late > 1.5 * early)) return std::nullopt;
            return Finding{memory.x.back(),
                           fmt::format("the peak grew from {:.0f} to {:.0f} MiB", early / 1048576, late / 1048576)};
          }};
}

}  // namespace maxplus
