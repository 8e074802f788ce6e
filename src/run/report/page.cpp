#include "run/report/page.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "run/progress.hpp"
#include "run/report/rollout_panel.hpp"

namespace maxplus {

namespace {

// A text of the manifest, whatever its type; empty if it is not there.
std::string manifest_text(const RunRecord& run, const char* key) {
  const auto found = run.manifest.find(key);
  if (found == run.manifest.end() || found->is_null() || found->is_structured()) return "";
  return found->is_string() ? found->get<std::string>() : found->dump();
}

// "0.32 → 0.91"
std::string change_text(const RunRecord& run, const char* metric) {
  const Points& points = points_of(run, metric);
  return points.y.empty() ? "" : fmt::format("{} → {}", number_text(points.y.front()), number_text(points.y.back()));
}

std::string ranks_text(const RunRecord& run) {
  const double ranks = last_of(run, "ranks"), nodes = last_of(run, "nodes");
  std::string text = std::isfinite(ranks) ? fmt::format("{:g}", ranks) : manifest_text(run, "ranks");
  if (std::isfinite(nodes)) text += fmt::format(" on {:g} {}", nodes, nodes == 1 ? "machine" : "machines");
  return text;
}

std::string iterations_text(const RunRecord& run) {
  const double iterations = last_of(run, "iteration");
  return std::isfinite(iterations) ? fmt::format("{:.0f}", iterations) : "";
}

std::string time_text(const RunRecord& run) {
  const double elapsed_s = last_of(run, "elapsed_s");
  return std::isfinite(elapsed_s) ? duration_text(elapsed_s) : "";
}

std::string deck_text(const RunRecord& run, std::string (*text)(const Deck&)) {
  return run.deck ? text(*run.deck) : std::string();
}

std::string table_of_runs(const std::vector<RunRecord>& runs) {
  struct Row {
    const char* name;
    std::string (*value)(const RunRecord&);
  };
  const Row rows[] = {
      {"folder", [](const RunRecord& r) { return r.name; }},
      {"title", [](const RunRecord& r) { return r.title; }},
      {"algorithm", [](const RunRecord& r) { return deck_text(r, [](const Deck& d) { return d.algorithm.name; }); }},
      {"seed",
       [](const RunRecord& r) { return deck_text(r, [](const Deck& d) { return fmt::format("{}", d.run.seed); }); }},
      {"iterations", iterations_text},
      {"held-out accuracy, greedy", [](const RunRecord& r) { return change_text(r, "eval_accuracy"); }},
      {"held-out accuracy, sampled", [](const RunRecord& r) { return change_text(r, "eval_accuracy_sampled"); }},
      {"mean reward", [](const RunRecord& r) { return change_text(r, "reward_mean"); }},
      {"mean response length", [](const RunRecord& r) { return change_text(r, "response_length_mean"); }},
      {"ranks", ranks_text},
      {"threads a rank", [](const RunRecord& r) { return manifest_text(r, "threads"); }},
      {"processor", [](const RunRecord& r) { return manifest_text(r, "processor"); }},
      {"instruction set", [](const RunRecord& r) { return manifest_text(r, "instruction_set"); }},
      {"arithmetic", [](const RunRecord& r) { return manifest_text(r, "arithmetic"); }},
      {"running time", time_text},
      {"restarts", [](const RunRecord& r) { return manifest_text(r, "restarts"); }},
      {"how it ended", [](const RunRecord& r) { return manifest_text(r, "exit"); }},
      {"weights", [](const RunRecord& r) { return r.weights_hash; }},
  };
  std::string html = "<div class='scroll' tabindex='0' role='region' aria-label='Runs'><table>\n";
  for (const Row& row : rows) {
    std::string cells;
    bool any = false;
    for (const RunRecord& run : runs) {
      const std::string value = row.value(run);
      any = any || !value.empty();
      cells += "<td>" + escape(value) + "</td>";
    }
    if (any) html += fmt::format("<tr><th scope='row'>{}</th>{}</tr>\n", row.name, cells);
  }
  return html + "</table></div>\n";
}

std::string alarms_html(const std::vector<Alarm>& alarms, bool several) {
  if (alarms.empty()) {
    return fmt::format("<p class='calm'>No alarm: {} rules looked at the metrics.</p>\n", alarm_rules().size());
  }
  std::string html = fmt::format("<section class='alarms' aria-label='Alarms'>\n<h2>{} {}</h2>\n<ul>\n", alarms.size(),
                                 alarms.size() == 1 ? "alarm" : "alarms");
  for (const Alarm& alarm : alarms) {
    html += fmt::format("<li><b>{}</b>{}, iteration {:.0f}: {}.<br><span class='quiet'>{}.</span></li>\n",
                        alarm.rule->name, several ? fmt::format(" in {}", escape(alarm.run)) : "",
                        alarm.finding.iteration, escape(alarm.finding.text), escape(alarm.rule->advice));
  }
  return html + "</ul>\n</section>\n";
}

// The figure's numbers for those who do not see it, or want them exactly.
std::string numbers_html(const Chart& chart) {
  std::string html = "<details><summary>Numbers</summary><div class='scroll' tabindex='0'><table>\n<tr>";
  for (const char* head : {"", "first", "last", "least", "largest"})
    html += fmt::format("<th scope='col'>{}</th>", head);
  html += "</tr>\n";
  for (const Series& s : chart.series) {
    if (s.y.empty()) continue;
    const auto [least, largest] = std::minmax_element(s.y.begin(), s.y.end());
    html += fmt::format("<tr><th scope='row'>{}</th>", escape(s.label));
    for (const double v : {s.y.front(), s.y.back(), *least, *largest})
      html += fmt::format("<td>{}</td>", number_text(v));
    html += "</tr>\n";
  }
  return html + "</table></div></details>\n";
}

std::string figures_html(const std::vector<Figure>& figures) {
  std::string html, group;
  for (const Figure& figure : figures) {
    if (figure.group != group) {
      html += fmt::format("{}<h2>{}</h2>\n<div class='figures'>\n", group.empty() ? "" : "</div>\n", figure.group);
      group = figure.group;
    }
    const std::string note = thinning_note(figure.chart);
    html += fmt::format("<figure id='{}'>\n{}<figcaption>{}{}</figcaption>\n{}</figure>\n", escape(figure.chart.name),
                        svg_of(figure.chart, ChartUse::page), escape(figure.chart.meaning),
                        note.empty() ? "" : " " + escape(note), numbers_html(figure.chart));
  }
  return group.empty() ? "" : html + "</div>\n";
}

std::string timelines_html(const std::vector<TimelineFigure>& timelines) {
  if (timelines.empty()) return "";
  std::string html = "<h2>What bounds an iteration</h2>\n<div class='timelines'>\n";
  for (const TimelineFigure& figure : timelines) {
    html += fmt::format("<figure id='{}'>\n<p><b>{}.</b></p>\n{}<figcaption>{}</figcaption>\n</figure>\n",
                        escape(figure.name), escape(figure.sentence), timeline_svg(figure, ChartUse::page),
                        escape(figure.meaning));
  }
  return html + "</div>\n";
}

}  // namespace

std::string report_page(const std::vector<RunRecord>& runs, const std::vector<Figure>& figures,
                        const std::vector<TimelineFigure>& timelines, const std::vector<Alarm>& alarms) {
  const bool several = runs.size() > 1;
  const std::string title = several ? fmt::format("{} runs", runs.size()) : runs[0].title;
  // The policy forbids whatever a text could smuggle in: scripts, and everything from elsewhere.
  std::string html = fmt::format(
      "<!doctype html>\n<html lang='en'>\n<head>\n<meta charset='utf-8'>\n"
      "<meta http-equiv='Content-Security-Policy' content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
      "<meta name='viewport' content='width=device-width, initial-scale=1'>\n<meta name='color-scheme' content='light "
      "dark'>\n<title>{} · maxplus report</title>\n<style>{}</style>\n</head>\n<body>\n<main>\n<h1>{}</h1>\n",
      escape(title), page_style(), escape(title));
  html += alarms_html(alarms, several);
  html += table_of_runs(runs);
  html += figures_html(figures);
  html += timelines_html(timelines);
  PanelLimits limits;
  limits.tokens /= runs.size();
  for (std::size_t r = 0; r < runs.size(); ++r)
    html += rollout_panel(runs[r], r, several ? fmt::format("Rollouts: {}", runs[r].name) : "Rollouts", limits);
  return html + "</main>\n</body>\n</html>\n";
}

}  // namespace maxplus
