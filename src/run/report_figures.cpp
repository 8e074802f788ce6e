#include "run/report_figures.hpp"

#include <algorithm>
#include <span>

#include <fmt/format.h>

namespace maxplus {

namespace {

struct Curve {
  const char* metric;
  const char* label;
};

struct Figure {
  const char* name;
  const char* title;
  const char* y_label;
  const char* meaning;
  bool from_zero;
  std::vector<Curve> curves;
};

const std::vector<Figure>& line_figures() {
  static const std::vector<Figure> figures = {
      {"learning",
       "Learning curve",
       "",
       "Mean reward of the answers drawn in training, and the share of held-out problems answered rightly: greedy is "
       "step-like, sampled is smooth.",
       true,
       {{"reward_mean", "mean reward"},
        {"eval_accuracy", "held-out accuracy, greedy"},
        {"eval_accuracy_sampled", "held-out accuracy, sampled"}}},
      {"lengths",
       "Response length",
       "tokens",
       "Mean number of tokens of an answer, the stop token included; right and wrong answers apart.",
       true,
       {{"response_length_mean", "all"},
        {"response_length_correct_mean", "right"},
        {"response_length_wrong_mean", "not right"}}},
      {"shares",
       "Groups and ends",
       "share",
       "Groups whose rewards are all equal teach nothing; truncated answers ended at the length limit.",
       true,
       {{"groups_zero_spread_share", "groups without spread"}, {"truncated_share", "truncated answers"}}},
      {"entropy",
       "Entropy",
       "nats a token",
       "How undecided the policy is when it draws a token. A fall to 0 means that it no longer explores.",
       true,
       {{"entropy_mean", "entropy"}}},
      {"ratio",
       "Probability ratio",
       "policy now / when drawn",
       "How far updates have moved the probability of drawn tokens; 1 everywhere before the first update.",
       false,
       {{"ratio_min", "smallest"}, {"ratio_mean", "mean"}, {"ratio_max", "largest"}}},
      {"clip",
       "Clipped tokens",
       "share",
       "Share of trained tokens whose gradient the clip removed, because the ratio was too small or too large.",
       true,
       {{"clip_share_low", "ratio too small"}, {"clip_share_high", "ratio too large"}}},
      {"kl",
       "KL divergence",
       "nats a token",
       "Distance of the policy from the one that drew the tokens, and from the reference where there is one (k3).",
       true,
       {{"kl_old", "to when drawn"}, {"kl_reference", "to the reference"}}},
      {"gradient",
       "Gradient norm",
       "",
       "Length of the gradient before clipping. Near 0: nothing to learn from; sudden peaks: a learning rate that is "
       "too high.",
       true,
       {{"gradient_norm", "gradient norm"}}},
      {"speed",
       "Tokens a second",
       "tokens/s",
       "Tokens drawn a second of generation and rows trained a second of training, over all ranks.",
       true,
       {{"generation_tokens_per_s", "generation"}, {"training_tokens_per_s", "training"}}},
  };
  return figures;
}

constexpr Curve kStages[] = {{"seconds_generation", "generation"}, {"seconds_assessment", "assessment"},
                             {"seconds_training", "training"},     {"seconds_weight_handoff", "weight hand-off"},
                             {"seconds_evaluation", "evaluation"}, {"seconds_checkpoint", "checkpoint"}};

std::string label_of(const std::vector<RunRecord>& runs, const RunRecord& run, const char* label) {
  return runs.size() == 1 ? label : fmt::format("{}: {}", run.name, label);
}

// Stages of one run over its iterations; a stage that a line does not name took no time there.
Chart stages_of(const std::vector<RunRecord>& runs, std::size_t number) {
  const RunRecord& run = runs[number];
  Chart chart;
  chart.name = runs.size() == 1 ? "stages" : fmt::format("stages-{}", number + 1);
  chart.title = runs.size() == 1 ? "Time by stage" : fmt::format("Time by stage: {}", run.name);
  chart.meaning = "Seconds that each stage was busy in an iteration (slowest rank), on top of each other.";
  chart.y_label = "seconds";
  chart.style = Chart::Style::stacked;
  for (const Curve& stage : kStages) {
    Series series;
    series.label = stage.label;
    bool any = false;
    for (const Json& row : run.metrics) {
      if (row["iteration"].get<double>() < 1) continue;
      const auto found = row.find(stage.metric);
      const bool there = found != row.end() && found->is_number();
      any = any || there;
      series.x.push_back(row["iteration"].get<double>());
      series.y.push_back(there ? found->get<double>() : 0.0);
    }
    if (any) chart.series.push_back(std::move(series));
  }
  return chart;
}

}  // namespace

std::vector<Chart> report_figures(const std::vector<RunRecord>& runs) {
  std::vector<Chart> charts;
  for (const Figure& figure : line_figures()) {
    Chart chart;
    chart.name = figure.name;
    chart.title = figure.title;
    chart.meaning = figure.meaning;
    chart.y_label = figure.y_label;
    chart.from_zero = figure.from_zero;
    for (const RunRecord& run : runs) {
      for (const Curve& curve : figure.curves) {
        Points points = points_of(run, curve.metric);
        if (points.x.empty()) continue;
        chart.series.push_back({label_of(runs, run, curve.label), std::move(points.x), std::move(points.y)});
      }
    }
    if (!chart.series.empty()) charts.push_back(std::move(chart));
  }
  for (std::size_t r = 0; r < runs.size(); ++r) {
    Chart chart = stages_of(runs, r);
    if (!chart.series.empty()) charts.push_back(std::move(chart));
  }
  return charts;
}

}  // namespace maxplus
