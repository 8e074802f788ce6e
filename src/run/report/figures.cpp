#include "run/report/figures.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "run/report/subjects.hpp"

namespace maxplus {

namespace {

constexpr const char* kLearning = "Learning";
constexpr const char* kPolicy = "Policy";
constexpr const char* kCritic = "Critic";
constexpr const char* kTime = "Time and memory";

// `low` and `high` are metrics between which a band is drawn around the curve of a single run; with `deviation` it is
// one deviation to both sides, no further than these. Of seeds the band is always their least and largest.
struct Curve {
  const char* metric;
  const char* label;
  const char* low = "";
  const char* high = "";
  const char* deviation = "";
};

struct FigureRow {
  const char* group;
  const char* name;
  const char* title;
  const char* y_label;
  const char* meaning;
  const char* band_of_one;  // what the band of a single run means
  bool from_zero;
  std::vector<Curve> curves;
};

const std::vector<FigureRow>& line_figures() {
  static const std::vector<FigureRow> figures = {
      {kLearning,
       "reward",
       "Reward",
       "",
       "Mean reward of the answers drawn in training.",
       "Band: one standard deviation of the single rewards within an iteration, no uncertainty of their mean.",
       true,
       {{"reward_mean", "mean reward", "reward_min", "reward_max", "reward_std"}}},
      {kLearning,
       "accuracy",
       "Accuracy",
       "share of right answers",
       "Held-out problems were never trained on. Greedy answers rise in steps, sampled ones smoothly.",
       "Band: the interval of 95 % of the greedy accuracy (Wilson).",
       true,
       {{"eval_accuracy", "held-out, greedy", "eval_accuracy_low", "eval_accuracy_high"},
        {"eval_accuracy_sampled", "held-out, sampled"},
        {"accuracy", "in training"}}},
      {kLearning,
       "preference",
       "Preference accuracy",
       "share of pairs",
       "Pairs whose chosen answer is worth more to the rule than the rejected one.",
       "",
       true,
       {{"preference_accuracy", "in training"}, {"eval_preference_accuracy", "held-out"}}},
      {kLearning,
       "lengths",
       "Response length",
       "tokens",
       "Mean number of tokens of an answer, the stop token included; right and wrong answers apart.",
       "",
       true,
       {{"response_length_mean", "all"},
        {"response_length_correct_mean", "right"},
        {"response_length_wrong_mean", "not right"}}},
      {kLearning,
       "shares",
       "Groups and ends",
       "share",
       "Groups whose rewards are all equal teach nothing; truncated answers ended at the length limit.",
       "",
       true,
       {{"groups_zero_spread_share", "groups without spread"}, {"truncated_share", "truncated answers"}}},
      {kPolicy,
       "entropy",
       "Entropy",
       "nats a token",
       "How undecided the policy is when it draws a token. A fall to 0 means that it no longer explores.",
       "",
       true,
       {{"entropy_mean", "entropy"}}},
      {kPolicy,
       "kl",
       "KL divergence",
       "nats a token",
       "Distance of the policy from the one that drew the tokens, and from the reference where there is one (k3).",
       "",
       true,
       {{"kl_old", "to when drawn"}, {"kl_reference", "to the reference"}}},
      {kPolicy,
       "ratio",
       "Probability ratio",
       "policy now / when drawn",
       "How far updates have moved the probability of drawn tokens; 1 everywhere before the first update.",
       "Band: the least and the largest ratio of a token.",
       false,
       {{"ratio_mean", "mean", "ratio_min", "ratio_max"}}},
      {kPolicy,
       "clip",
       "Clipped tokens",
       "share",
       "Trained tokens whose gradient the clip removed, because the ratio was too small or too large.",
       "",
       true,
       {{"clip_share_low", "ratio too small"}, {"clip_share_high", "ratio too large"}}},
      {kPolicy,
       "importance",
       "Importance weights",
       "share",
       "How much the tokens still tell about the policy being trained (1: it drew them itself), and what caps and "
       "masks "
       "took.",
       "",
       true,
       {{"effective_sample_share", "effective samples"},
        {"importance_truncated_share", "truncated weights"},
        {"importance_masked_share", "masked weights"}}},
      {kPolicy,
       "gap",
       "Sampler against trainer",
       "nats",
       "Largest difference of a token's log-probability between drawing and the first update's forward. On policy it "
       "is "
       "0 on the host.",
       "",
       true,
       {{"log_prob_gap_max", "largest gap"}}},
      {kPolicy,
       "gradient",
       "Gradient norm",
       "",
       "Length of the gradient before clipping. Near 0: nothing to learn from; peaks: a learning rate that is too "
       "high.",
       "",
       true,
       {{"gradient_norm", "policy"}, {"critic_gradient_norm", "critic"}}},
      {kPolicy,
       "loss",
       "Loss",
       "",
       "What is minimised. Near 0 on the first on-policy step, where the gradient norm tells more.",
       "",
       false,
       {{"loss", "loss"}, {"kl_loss", "its KL term"}}},
      {kPolicy,
       "learning_rate",
       "Learning rate",
       "",
       "Of the last update of an iteration.",
       "",
       true,
       {{"learning_rate", "policy"}, {"critic_learning_rate", "critic"}}},
      {kCritic,
       "value_loss",
       "Value loss",
       "",
       "Loss of the critic, before its coefficient.",
       "",
       true,
       {{"value_loss", "value loss"}}},
      {kCritic,
       "explained_variance",
       "Explained variance",
       "",
       "1: the values foretell the returns; 0: no better than their mean; below 0: worse.",
       "",
       true,
       {{"explained_variance", "explained variance"}}},
      {kTime,
       "speed",
       "Tokens a second",
       "tokens/s",
       "Tokens drawn a second of generation and rows trained a second of training, over all ranks.",
       "",
       true,
       {{"generation_tokens_per_s", "generation"}, {"training_tokens_per_s", "training"}}},
      {kTime,
       "memory",
       "Peak memory",
       "bytes a rank",
       "Largest resident memory of a rank so far.",
       "",
       true,
       {{"memory_peak_bytes", "peak"}}},
  };
  return figures;
}

struct Layer {
  const char* metric;
  const char* label;
  int colour;
};

struct StackRow {
  const char* group;
  const char* name;
  const char* title;
  const char* y_label;
  const char* meaning;
  const char* share_of;  // the metric by which all are divided, or empty
  std::vector<Layer> layers;
};

const std::vector<StackRow>& stacked_figures() {
  static const std::vector<StackRow> figures = {
      {kLearning,
       "verdicts",
       "Verdicts",
       "share of the rollouts",
       "How the answers of an iteration were judged. Unusable problems and a crashed judge are no wrong answers.",
       "rollouts",
       {{"verdict_correct", "right", 2},
        {"verdict_wrong", "wrong", 1},
        {"verdict_no_answer", "no answer", 6},
        {"verdict_timed_out", "timed out", 7},
        {"verdict_gold_unusable", "unusable problem", 3},
        {"verdict_crashed", "judge crashed", 0}}},
      {kTime,
       "stages",
       "Time by stage",
       "seconds",
       "Seconds that each stage was busy in an iteration (slowest rank), on top of each other. Stages may overlap.",
       "",
       {{"seconds_generation", "generation", 0},
        {"seconds_assessment", "assessment", 1},
        {"seconds_training", "training", 2},
        {"seconds_weight_handoff", "weight hand-off", 3},
        {"seconds_evaluation", "evaluation", 4},
        {"seconds_checkpoint", "checkpoint", 5}}},
  };
  return figures;
}

BandedPoints of_one_run(const RunRecord& run, const Curve& curve) {
  const Points& points = points_of(run, curve.metric);
  const Points &low = points_of(run, curve.low), &high = points_of(run, curve.high);
  BandedPoints all{points.x, points.y, {}, {}};
  if (low.x != points.x || high.x != points.x) return all;
  all.low = low.y;
  all.high = high.y;
  if (*curve.deviation == 0) return all;
  const Points& deviation = points_of(run, curve.deviation);
  if (deviation.x != points.x) return {points.x, points.y, {}, {}};
  for (std::size_t i = 0; i < points.y.size(); ++i) {
    all.low[i] = std::max(all.low[i], points.y[i] - deviation.y[i]);
    all.high[i] = std::min(all.high[i], points.y[i] + deviation.y[i]);
  }
  return all;
}

Chart lines_of(const FigureRow& row, const std::vector<Subject>& subjects) {
  Chart chart;
  chart.name = row.name;
  chart.title = row.title;
  chart.y_label = row.y_label;
  chart.from_zero = row.from_zero;
  bool banded = false;
  const bool compares = subjects.size() > 1;
  for (std::size_t s = 0; s < subjects.size(); ++s) {
    for (std::size_t c = 0; c < row.curves.size(); ++c) {
      const Curve& curve = row.curves[c];
      BandedPoints points =
          subjects[s].of_seeds() ? over_seeds(subjects[s], curve.metric) : of_one_run(*subjects[s].runs[0], curve);
      if (points.x.empty()) continue;
      banded = banded || (!subjects[s].of_seeds() && !points.low.empty());
      Series series;
      series.label = !compares                ? curve.label
                     : row.curves.size() == 1 ? subjects[s].name
                                              : fmt::format("{}: {}", subjects[s].name, curve.label);
      series.x = std::move(points.x);
      series.y = std::move(points.y);
      series.low = std::move(points.low);
      series.high = std::move(points.high);
      series.colour = static_cast<int>(compares ? s : c);
      series.dash = static_cast<int>(compares ? c : 0);
      chart.series.push_back(std::move(series));
    }
  }
  chart.meaning = row.meaning;
  if (banded) chart.meaning += fmt::format(" {}", row.band_of_one);
  if (std::any_of(subjects.begin(), subjects.end(), [](const Subject& s) { return s.of_seeds(); }))
    chart.meaning += " Of several seeds: their mean, and as a band the least and the largest.";
  return chart;
}

// One run over its iterations; what a line does not name took no time there, or did not happen.
Chart stack_of_run(const StackRow& row, const RunRecord& run) {
  Chart chart;
  chart.name = row.name;
  chart.title = row.title;
  chart.meaning = row.meaning;
  chart.y_label = row.y_label;
  chart.style = Chart::Style::stacked;
  std::map<double, double> whole;  // iteration to what its values are divided by
  const auto trained = [](double iteration) { return iteration >= 1; };
  for (const Layer& layer : row.layers) {
    for (const double x : points_of(run, layer.metric).x) {
      if (trained(x)) whole.emplace(x, 1.0);
    }
  }
  const Points& totals = points_of(run, row.share_of);
  for (std::size_t i = 0; i < totals.x.size(); ++i) {
    if (const auto found = whole.find(totals.x[i]); found != whole.end()) found->second = totals.y[i];
  }
  for (const Layer& layer : row.layers) {
    const Points& points = points_of(run, layer.metric);
    if (std::none_of(points.y.begin(), points.y.end(), [](double v) { return v > 0; })) continue;
    std::map<double, double> values;
    for (std::size_t i = 0; i < points.x.size(); ++i) values[points.x[i]] = points.y[i];
    Series series;
    series.label = layer.label;
    for (const auto& [x, total] : whole) {
      const auto found = values.find(x);
      series.x.push_back(x);
      series.y.push_back(found != values.end() && total > 0 ? found->second / total : 0.0);
    }
    series.colour = layer.colour;
    chart.series.push_back(std::move(series));
  }
  return chart;
}

}  // namespace

std::vector<Figure> report_figures(const std::vector<RunRecord>& runs) {
  std::vector<Figure> figures;
  const std::vector<Subject> subjects = subjects_of(runs);
  for (const char* group : {kLearning, kPolicy, kCritic, kTime}) {
    for (const FigureRow& row : line_figures()) {
      if (std::string_view(row.group) != group) continue;
      Chart chart = lines_of(row, subjects);
      if (!chart.series.empty()) figures.push_back({group, std::move(chart)});
    }
    for (const StackRow& row : stacked_figures()) {
      if (std::string_view(row.group) != group) continue;
      for (std::size_t r = 0; r < runs.size(); ++r) {
        Chart chart = stack_of_run(row, runs[r]);
        if (chart.series.empty()) continue;
        if (runs.size() > 1) {
          chart.name += fmt::format("-{}", r + 1);
          chart.title += fmt::format(": {}", runs[r].name);
        }
        figures.push_back({group, std::move(chart)});
      }
    }
  }
  return figures;
}

}  // namespace maxplus
