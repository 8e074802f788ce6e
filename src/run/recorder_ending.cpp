// How a run takes its leave: the closing summary on standard output, the report, the manifest's last words.
#include <cstdio>
#include <filesystem>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/strings.hpp"
#include "run/recorder.hpp"
#include "run/report/report.hpp"

namespace maxplus {

namespace fs = std::filesystem;

std::string Recorder::summary(const RunState& state, double elapsed_s, Ending ending, const std::string& reason) const {
  const auto shown = [](const MetricsRow& row, const char* name) {
    return row.has(name) ? fmt::format("{:.3f}", row.number(name)) : std::string("-");
  };
  std::string text = fmt::format("\n{}\n", deck_.title.empty() ? folder_ : deck_.title);
  if (!evaluations_.empty()) {
    text += fmt::format("  {:<34}{:>10}{:>10}\n", "", "start", "end");
    text += fmt::format("  {:<34}{:>10}{:>10}\n",
                        fmt::format("held-out accuracy ({} problems)",
                                    static_cast<std::int64_t>(evaluations_.back().number("eval_problems"))),
                        shown(evaluations_.front(), "eval_accuracy"), shown(evaluations_.back(), "eval_accuracy"));
    if (evaluations_.back().has("eval_accuracy_sampled")) {
      text += fmt::format("  {:<34}{:>10}{:>10}\n", "held-out accuracy, sampled",
                          shown(evaluations_.front(), "eval_accuracy_sampled"),
                          shown(evaluations_.back(), "eval_accuracy_sampled"));
    }
  }
  if (first_trained_) {
    for (const auto& [label, name] : {std::pair{"mean reward", "reward_mean"},
                                      {"mean response length, tokens", "response_length_mean"},
                                      {"entropy, nats", "entropy_mean"}}) {
      text += fmt::format("  {:<34}{:>10}{:>10}\n", label, shown(*first_trained_, name), shown(*last_trained_, name));
    }
  }
  text += fmt::format("  {} iterations, {} updates, {}\n", state.iteration, state.step, duration_text(elapsed_s));
  if (ending == Ending::stopped)
    text += fmt::format("  saved and left early: {}; start the same command again to go on\n", reason);
  text += fmt::format("  run folder  {}\n", folder_);
  if (ending != Ending::stopped)
    text += fmt::format("  report      {}\n", (fs::path(folder_) / "report" / "index.html").string());
  return text;
}

void Recorder::finish(const RunState& state, double elapsed_s, Ending ending, const std::string& reason) {
  if (!speaks()) return;
  progress_.reset();
  flush();
  write_manifest(ending == Ending::finished ? "finished"
                 : ending == Ending::paused ? "stopped after [run] stop_after"
                                            : reason);
  log_.event(ending == Ending::stopped
                 ? fmt::format("saved and left early after iteration {}: {}", state.iteration, reason)
                 : fmt::format("{} after iteration {}, {}",
                               ending == Ending::finished ? "finished" : "stopped as asked", state.iteration,
                               duration_text(elapsed_s)));
  if (ending != Ending::stopped) {
    try {
      const Report report = write_report({fs::path(folder_)}, fs::path(folder_) / "report", {});
      for (const Alarm& alarm : report.alarms) log_.event(alarm.line());
    } catch (const Error& error) {
      log_.warning(fmt::format("no report: {}", error.what()));
    }
  }
  if (options_.verbosity == Verbosity::quiet && options_.output == CommandLine::Output::human) return;
  std::string text = summary(state, elapsed_s, ending, reason);
  if (options_.output == CommandLine::Output::json) {
    nlohmann::ordered_json json;
    json["iterations"] = state.iteration;
    json["out"] = folder_;
    if (!evaluations_.empty()) json["eval_accuracy"] = evaluations_.back().number("eval_accuracy");
    json["elapsed_s"] = elapsed_s;
    text = json.dump() + "\n";
  }
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

}  // namespace maxplus
