#include "run/report.hpp"

#include <cmath>
#include <fstream>

#include <fmt/format.h>

#include "base/error.hpp"
#include "run/progress.hpp"
#include "run/report_chart.hpp"
#include "run/report_data.hpp"
#include "run/report_figures.hpp"

namespace maxplus {

namespace {

constexpr const char* kStyle = R"(
body { margin: 0 auto; max-width: 1080px; padding: 28px 18px 60px; font: 15px/1.5 system-ui, Helvetica, Arial, sans-serif; color: #222; background: #fff; }
h1 { font-size: 24px; margin: 0 0 4px; } h2 { font-size: 18px; margin: 40px 0 10px; } h3 { font-size: 15px; margin: 22px 0 8px; }
p.quiet, figcaption, .why { color: #666; } figcaption { font-size: 13px; margin: 2px 4px 0; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(440px, 100%), 1fr)); gap: 30px 26px; }
figure { margin: 0; min-width: 0; } figure svg { width: 100%; height: auto; display: block; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; font-size: 14px; }
th, td { text-align: left; vertical-align: top; padding: 4px 18px 4px 0; border-bottom: 1px solid #eee; font-variant-numeric: tabular-nums; }
th { font-weight: 600; white-space: nowrap; }
.rollouts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(440px, 100%), 1fr)); gap: 0 26px; }
.rollout { border-left: 3px solid #ddd; padding: 2px 0 2px 12px; margin: 0 0 16px; min-width: 0; }
.rollout.right { border-color: #009e73; } .rollout.not-right { border-color: #d55e00; }
.rollout .head { font-size: 13px; } pre { margin: 4px 0 0; font: 13px/1.45 ui-monospace, Menlo, Consolas, monospace; white-space: pre-wrap; overflow-wrap: anywhere; }
pre.prompt { color: #666; }
)";

std::string number_text(double value) { return std::isfinite(value) ? fmt::format("{:.4g}", value) : ""; }

// A text of the manifest, whatever its type; empty if it is not there.
std::string manifest_text(const RunRecord& run, const char* key) {
  const auto found = run.manifest.find(key);
  if (found == run.manifest.end() || found->is_null() || found->is_structured()) return "";
  return found->is_string() ? found->get<std::string>() : found->dump();
}

double first_of(const RunRecord& run, const std::string& metric) {
  const Points points = points_of(run, metric);
  return points.y.empty() ? std::nan("") : points.y.front();
}

// "0.32 → 0.91"
std::string change_text(const RunRecord& run, const std::string& metric) {
  const std::string first = number_text(first_of(run, metric)), last = number_text(last_of(run, metric));
  return first.empty() ? "" : fmt::format("{} → {}", first, last);
}

std::string ranks_text(const RunRecord& run) {
  const double ranks = last_of(run, "ranks"), nodes = last_of(run, "nodes");
  std::string text = std::isfinite(ranks) ? fmt::format("{:g}", ranks) : manifest_text(run, "ranks");
  if (std::isfinite(nodes)) text += fmt::format(" on {:g} {}", nodes, nodes == 1 ? "machine" : "machines");
  return text;
}

std::string time_text(const RunRecord& run) {
  const double elapsed_s = last_of(run, "elapsed_s");
  return std::isfinite(elapsed_s) ? duration_text(elapsed_s) : "";
}

std::string table_of_runs(const std::vector<RunRecord>& runs) {
  struct Row {
    const char* name;
    std::string (*value)(const RunRecord&);
  };
  const Row rows[] = {
      {"folder", [](const RunRecord& r) { return r.name; }},
      {"title", [](const RunRecord& r) { return r.title; }},
      {"iterations", [](const RunRecord& r) { return number_text(last_of(r, "iteration")); }},
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
      {"weights",
       [](const RunRecord& r) {
         const auto found = r.metrics.empty() ? Json::const_iterator() : r.metrics.back().find("weights_hash");
         return !r.metrics.empty() && found != r.metrics.back().end() && found->is_string() ? found->get<std::string>()
                                                                                            : std::string();
       }},
  };
  std::string html = "<div class='scroll'><table>\n";
  for (const Row& row : rows) {
    std::string cells;
    bool any = false;
    for (const RunRecord& run : runs) {
      const std::string value = row.value(run);
      any = any || !value.empty();
      cells += "<td>" + escape(value) + "</td>";
    }
    if (any) html += fmt::format("<tr><th>{}</th>{}</tr>\n", row.name, cells);
  }
  return html + "</table></div>\n";
}

std::string text_of(const Json& record, const char* key) {
  const auto found = record.find(key);
  if (found == record.end() || found->is_null()) return "";
  return found->is_string() ? found->get<std::string>() : found->dump();
}

std::string rollout_html(const Example& example) {
  const Json& r = *example.record;
  const std::string verdict = text_of(r, "verdict");
  const std::size_t tokens = r.contains("response_ids") && r["response_ids"].is_array() ? r["response_ids"].size() : 0;
  std::string html = fmt::format(
      "<div class='rollout {}'>\n<div class='head'><b>reward {}</b> · {} · {} tokens · <span class='why'>{}, "
      "{}</span></div>\n",
      verdict == "correct" ? "right" : "not-right", escape(text_of(r, "reward")), escape(verdict), tokens,
      escape(example.why), escape(text_of(r, "rollout_id")));
  html += fmt::format("<pre class='prompt'>{}</pre>\n<pre>{}</pre>\n</div>\n", escape(text_of(r, "prompt")),
                      escape(text_of(r, "response")));
  return html;
}

std::string column_html(const char* when, std::int64_t iteration, const std::vector<Json>& records) {
  std::string html = fmt::format("<div><h3>{}: iteration {}</h3>\n", when, iteration);
  for (const Example& example : examples_of(records)) html += rollout_html(example);
  return html + "</div>\n";
}

std::string rollouts_html(const std::vector<RunRecord>& runs) {
  std::string html;
  for (const RunRecord& run : runs) {
    if (run.first_rollouts.empty()) continue;
    html += runs.size() == 1 ? "<h2>Rollouts before and after</h2>\n"
                             : fmt::format("<h2>Rollouts before and after: {}</h2>\n", escape(run.name));
    html +=
        "<p class='quiet'>The prompt in grey, below it the whole response. The one with the largest reward of its "
        "iteration, the one with the smallest, and two by place.</p>\n";
    html += "<div class='rollouts'>\n" + column_html("Before", run.first_iteration, run.first_rollouts);
    if (!run.last_rollouts.empty()) html += column_html("After", run.last_iteration, run.last_rollouts);
    html += "</div>\n";
  }
  return html;
}

std::string page(const std::vector<RunRecord>& runs, const std::vector<Chart>& figures) {
  const std::string title = runs.size() == 1 ? runs[0].title : fmt::format("{} runs", runs.size());
  std::string html = fmt::format(
      "<!doctype html>\n<html lang='en'>\n<head>\n<meta charset='utf-8'>\n<meta name='viewport' "
      "content='width=device-width, initial-scale=1'>\n"
      "<title>{} · maxplus report</title>\n<style>{}</style>\n</head>\n<body>\n<h1>{}</h1>\n<p class='quiet'>A maxplus "
      "run, from its records.</p>\n",
      escape(title), kStyle, escape(title));
  html += table_of_runs(runs);
  html += "<h2>Figures</h2>\n<div class='figures'>\n";
  for (const Chart& figure : figures) {
    html += fmt::format("<figure id='{}'>\n{}<figcaption>{}</figcaption>\n</figure>\n", escape(figure.name),
                        svg_of(figure), escape(figure.meaning));
  }
  html += "</div>\n";
  html += rollouts_html(runs);
  return html + "</body>\n</html>\n";
}

void write_file(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  if (!file)
    throw Error(ExitCode::cannot_create,
                Fault{path.string(), "cannot be created", "", "check the folder's permissions"});
  file << text;
  file.close();
  if (!file) throw Error(ExitCode::io, Fault{path.string(), "cannot be written", "", "check the free space there"});
}

}  // namespace

void write_report(const std::vector<std::filesystem::path>& runs, const std::filesystem::path& out) {
  MAXPLUS_REQUIRE(!runs.empty(), "a report is of at least one run");
  std::vector<RunRecord> records;
  for (const std::filesystem::path& folder : runs) records.push_back(read_run(folder));
  std::error_code error;
  std::filesystem::create_directories(out, error);
  if (error)
    throw Error(ExitCode::cannot_create, Fault{out.string(), "the folder cannot be made: " + error.message(), "", ""});
  const std::vector<Chart> figures = report_figures(records);
  for (const Chart& figure : figures) {
    write_file(out / (figure.name + ".svg"), "<?xml version='1.0' encoding='UTF-8'?>\n" + svg_of(figure));
  }
  write_file(out / "index.html", page(records, figures));
}

}  // namespace maxplus
