#include "run/report/chart.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>

#include <fmt/format.h>

#include "run/report/thinning.hpp"

namespace maxplus {

namespace {

constexpr double kWidth = 386, kLeft = 52, kRight = 12, kBottom = 40, kPlotHeight = 180;
constexpr int kColumns = static_cast<int>(kWidth - kLeft - kRight);
constexpr int kTipColumns = 48;
constexpr double kLargest = 1e300;  // what is larger has no distance to its opposite, and is not drawn
constexpr double kCharacter = 6.7;  // mean width of the 12 pixel font
constexpr std::array<const char*, 8> kColours = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                 "#8c6d00", "#56b4e9", "#444444", "#e69f00"};
constexpr std::array<const char*, 4> kDashes = {"", "6 3", "2 2.5", "8 3 2 3"};

std::size_t colour_number(int i) { return static_cast<std::size_t>(i) % kColours.size(); }

std::string drawn(int colour, int dash) {
  std::string text = fmt::format("class='s{}' stroke='{}'", colour_number(colour), kColours[colour_number(colour)]);
  const char* pattern = kDashes[static_cast<std::size_t>(dash) % kDashes.size()];
  return *pattern == 0 ? text : text + fmt::format(" stroke-dasharray='{}'", pattern);
}

struct Range {
  double low = std::numeric_limits<double>::infinity(), high = -std::numeric_limits<double>::infinity();
  void add(double v) {
    if (!(std::abs(v) < kLargest)) return;
    low = std::min(low, v);
    high = std::max(high, v);
  }
  bool empty() const { return low > high; }
  bool is_a_point() const { return high - low <= 1e-9 * std::max(std::abs(low), std::abs(high)); }
};

// Maps data to pixels.
struct Frame {
  Range x, y;
  double top = 0;
  double px(double v) const { return kLeft + (v - x.low) / (x.high - x.low) * kColumns; }
  double py(double v) const { return top + kPlotHeight - (v - y.low) / (y.high - y.low) * kPlotHeight; }
};

// The upper edges of a stack: height[k][b] is the sum of series 0..k, each its mean over the points of bin b.
struct Stack {
  std::vector<double> left, right;  // half an iteration beyond the points of a bin
  std::vector<std::vector<double>> height;
};

Stack stack_of(const Chart& chart) {
  Stack stack;
  if (chart.series.empty()) return stack;
  const std::vector<double>& x = chart.series[0].x;
  const std::vector<Bin> bins = bins_of(x, kColumns);
  for (const Bin& bin : bins) {
    stack.left.push_back(x[bin.first] - 0.5);
    stack.right.push_back(x[bin.last - 1] + 0.5);
  }
  std::vector<double> sum(bins.size(), 0.0);
  for (const Series& s : chart.series) {
    for (std::size_t b = 0; b < bins.size(); ++b) {
      double total = 0;
      for (std::size_t i = bins[b].first; i < bins[b].last; ++i) total += std::abs(s.y[i]) < kLargest ? s.y[i] : 0.0;
      sum[b] += total / static_cast<double>(bins[b].last - bins[b].first);
    }
    stack.height.push_back(sum);
  }
  return stack;
}

Frame frame_of(const Chart& chart, const Stack& stack, double top) {
  Frame frame;
  frame.top = top;
  if (chart.from_zero) frame.y.add(0);
  const bool stacked = chart.style == Chart::Style::stacked;
  for (const Series& s : chart.series) {
    for (const double v : s.x) frame.x.add(v);
    if (stacked) continue;
    for (const auto* values : {&s.y, &s.low, &s.high}) {
      for (const double v : *values) frame.y.add(v);
    }
  }
  for (const auto& sums : stack.height) {
    for (const double v : sums) frame.y.add(v);
  }
  if (frame.x.empty()) frame.x = {0, 1};
  if (stacked || frame.x.is_a_point()) frame.x = {frame.x.low - 0.5, frame.x.high + 0.5};
  if (frame.y.empty()) frame.y = {0, 1};
  if (frame.y.is_a_point()) {
    const double size = std::max(std::abs(frame.y.low), std::abs(frame.y.high)), margin = size == 0 ? 1 : 0.1 * size;
    frame.y = {chart.from_zero ? std::min(0.0, frame.y.low) : frame.y.low - margin, frame.y.high + margin};
  }
  const std::vector<double> ticks = round_ticks(frame.y.low, frame.y.high, 4);
  frame.y = {std::min(frame.y.low, ticks.front()), std::max(frame.y.high, ticks.back())};
  return frame;
}

std::string axes(const Frame& frame, const Chart& chart) {
  std::string svg;
  const double bottom = frame.top + kPlotHeight, right = kWidth - kRight;
  const std::vector<double> y_ticks = round_ticks(frame.y.low, frame.y.high, 4);
  const double y_step = y_ticks[1] - y_ticks[0];
  for (const double v : y_ticks) {
    const double y = frame.py(v);
    if (y < frame.top - 0.5 || y > bottom + 0.5) continue;
    svg += fmt::format("<line class='rule' x1='{:.1f}' x2='{:.1f}' y1='{:.1f}' y2='{:.1f}' stroke='#e6e6e6'/>", kLeft,
                       right, y, y);
    svg += fmt::format("<text x='{:.1f}' y='{:.1f}' text-anchor='end'>{}</text>\n", kLeft - 6, y + 4,
                       tick_text(v, y_step));
  }
  const std::vector<double> x_ticks = round_ticks(frame.x.low, frame.x.high, 5);
  const double x_step = x_ticks[1] - x_ticks[0];
  for (const double v : x_ticks) {
    const double x = frame.px(v);
    if (x < kLeft - 0.5 || x > right + 0.5 || v != std::round(v)) continue;  // iterations are whole
    svg += fmt::format("<line class='axis' x1='{:.1f}' x2='{:.1f}' y1='{:.1f}' y2='{:.1f}' stroke='#888'/>", x, x,
                       bottom, bottom + 4);
    svg += fmt::format("<text x='{:.1f}' y='{:.1f}' text-anchor='middle'>{}</text>\n", x, bottom + 17,
                       tick_text(v, x_step));
  }
  svg += fmt::format("<line class='axis' x1='{:.1f}' x2='{:.1f}' y1='{:.1f}' y2='{:.1f}' stroke='#888'/>\n", kLeft,
                     right, bottom, bottom);
  svg += fmt::format("<text class='quiet' x='{:.1f}' y='{:.1f}' text-anchor='end' fill='#5c5c5c'>iteration</text>\n",
                     right, bottom + 34);
  if (!chart.y_label.empty()) {
    svg += fmt::format("<text class='quiet' x='4' y='{:.1f}' fill='#5c5c5c'>{}</text>\n", frame.top - 14,
                       escape(chart.y_label));
  }
  return svg;
}

std::string point_text(const Frame& frame, double x, double y) {
  return fmt::format("{:.2f},{:.2f} ", frame.px(x), frame.py(y));
}

std::string band_of(const Frame& frame, const Series& s) {
  if (s.low.size() != s.x.size() || s.high.size() != s.x.size()) return "";
  std::string forth;
  std::vector<std::string> back;
  for (const Bin& bin : bins_of(s.x, kColumns)) {
    Range range;
    for (std::size_t i = bin.first; i < bin.last; ++i) range.add(s.low[i]), range.add(s.high[i]);
    if (range.empty()) continue;
    const double x = (s.x[bin.first] + s.x[bin.last - 1]) / 2;
    forth += point_text(frame, x, range.high);
    back.push_back(point_text(frame, x, range.low));
  }
  if (back.size() < 2) return "";
  for (std::size_t i = back.size(); i-- > 0;) forth += back[i];
  forth.pop_back();
  return fmt::format("<polygon {} fill-opacity='0.18' points='{}'/>\n", filled(s.colour), forth);
}

std::string line_of(const Frame& frame, const Series& s) {
  std::string points, marks;
  const bool few = s.x.size() <= 40;
  for (const std::size_t i : line_points(s.x, s.y, kColumns)) {
    if (!(std::abs(s.y[i]) < kLargest)) continue;
    points += point_text(frame, s.x[i], s.y[i]);
    if (few)
      marks += fmt::format("<circle cx='{:.2f}' cy='{:.2f}' r='2' {}/>", frame.px(s.x[i]), frame.py(s.y[i]),
                           filled(s.colour));
  }
  if (points.empty()) return "";
  points.pop_back();
  return fmt::format("<polyline fill='none' {} stroke-width='1.6' stroke-linejoin='round' points='{}'/>{}\n",
                     drawn(s.colour, s.dash), points, marks);
}

std::string step_edge(const Frame& frame, const Stack& stack, const std::vector<double>* height, bool backwards) {
  std::string points;
  const std::size_t n = stack.left.size();
  for (std::size_t k = 0; k < n; ++k) {
    const std::size_t b = backwards ? n - 1 - k : k;
    const double y = height == nullptr ? 0.0 : (*height)[b];
    points += point_text(frame, backwards ? stack.right[b] : stack.left[b], y);
    points += point_text(frame, backwards ? stack.left[b] : stack.right[b], y);
  }
  return points;
}

std::string areas(const Frame& frame, const Chart& chart, const Stack& stack) {
  std::string svg;
  for (std::size_t k = 0; k < stack.height.size(); ++k) {
    std::string points = step_edge(frame, stack, &stack.height[k], false) +
                         step_edge(frame, stack, k == 0 ? nullptr : &stack.height[k - 1], true);
    if (!points.empty()) points.pop_back();
    svg += fmt::format("<polygon {} fill-opacity='0.75' points='{}'/>\n", filled(chart.series[k].colour), points);
  }
  return svg;
}

// Labels side by side, in as many lines as they need; `y` is moved below them.
std::string legend(const Chart& chart, double& y) {
  std::string svg;
  double x = 4;
  const bool stacked = chart.style == Chart::Style::stacked;
  for (const Series& s : chart.series) {
    const double width = 36 + kCharacter * static_cast<double>(s.label.size());
    if (x > 4 && x + width > kWidth) {
      x = 4;
      y += 17;
    }
    svg += stacked ? fmt::format("<rect x='{:.1f}' y='{:.1f}' width='16' height='8' rx='1' fill-opacity='0.75' {}/>", x,
                                 y - 8, filled(s.colour))
                   : fmt::format("<line x1='{:.1f}' x2='{:.1f}' y1='{:.1f}' y2='{:.1f}' stroke-width='2.5' {}/>", x,
                                 x + 18, y - 4, y - 4, drawn(s.colour, s.dash));
    svg += fmt::format("<text x='{:.1f}' y='{:.1f}'>{}</text>\n", x + 22, y, escape(s.label));
    x += width;
  }
  y += chart.y_label.empty() ? 18 : 34;
  return svg;
}

// What a series has from x `first` to `last`: one value, or the least and the largest; empty for none.
std::string values_text(const Series& s, double first, double last) {
  Range range;
  for (auto at = std::lower_bound(s.x.begin(), s.x.end(), first); at != s.x.end() && *at <= last; ++at)
    range.add(s.y[static_cast<std::size_t>(at - s.x.begin())]);
  if (range.empty()) return "";
  const std::string low = number_text(range.low), high = number_text(range.high);
  return fmt::format("\n{}: {}", s.label, low == high ? low : low + " to " + high);
}

// Columns that show their numbers when the pointer rests on them.
std::string tips(const Frame& frame, const Chart& chart) {
  std::set<double> all;
  for (const Series& s : chart.series) all.insert(s.x.begin(), s.x.end());
  const std::vector<double> x(all.begin(), all.end());
  const std::vector<Bin> bins = bins_of(x, kTipColumns);
  std::string svg = "<g class='tips' fill-opacity='0'>";
  for (std::size_t b = 0; b < bins.size(); ++b) {
    const double first = x[bins[b].first], last = x[bins[b].last - 1];
    const double left = b == 0 ? kLeft : (frame.px(x[bins[b].first - 1]) + frame.px(first)) / 2;
    const double right = b + 1 == bins.size() ? kWidth - kRight : (frame.px(last) + frame.px(x[bins[b].last])) / 2;
    std::string text = first == last ? fmt::format("iteration {:.0f}", first)
                                     : fmt::format("iterations {:.0f} to {:.0f}", first, last);
    for (const Series& s : chart.series) text += values_text(s, first, last);
    svg += fmt::format("<rect x='{:.1f}' y='{:.0f}' width='{:.1f}' height='{:.0f}'><title>{}</title></rect>\n", left,
                       frame.top, right - left, kPlotHeight, escape(text));
  }
  return svg + "</g>\n";
}

}  // namespace

std::string filled(int colour) {
  return fmt::format("class='c{}' fill='{}'", colour_number(colour), kColours[colour_number(colour)]);
}

std::string svg_head(const std::string& title, double width, double height, ChartUse use) {
  std::string svg = fmt::format(
      "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {0:g} {1:g}' role='img' class='ink' "
      "font-family='system-ui,Helvetica,Arial,sans-serif' font-size='12' fill='#222'>\n<title>{2}</title>\n",
      width, height, escape(title));
  if (use == ChartUse::file) svg += fmt::format("<rect width='{:g}' height='{:g}' fill='#fff'/>\n", width, height);
  return svg + fmt::format("<text x='4' y='18' font-size='14' font-weight='600'>{}</text>\n", escape(title));
}

std::string svg_of(const Chart& chart, ChartUse use) {
  double y = 40;
  const std::string labels = legend(chart, y);
  const bool stacked = chart.style == Chart::Style::stacked;
  const Stack stack = stacked ? stack_of(chart) : Stack();
  const Frame frame = frame_of(chart, stack, y);
  const double height = y + kPlotHeight + kBottom;
  std::string svg = svg_head(chart.title, kWidth, height, use);
  svg += labels + axes(frame, chart);
  if (stacked) {
    svg += areas(frame, chart, stack);
  } else {
    for (const Series& s : chart.series) svg += band_of(frame, s);
    for (const Series& s : chart.series) svg += line_of(frame, s);
  }
  if (use == ChartUse::page) svg += tips(frame, chart);
  return svg + "</svg>\n";
}

std::string thinning_note(const Chart& chart) {
  std::size_t most = 0;
  for (const Series& s : chart.series) most = std::max(most, s.x.size());
  if (most <= 2 * static_cast<std::size_t>(kColumns)) return "";
  const char* what = chart.style == Chart::Style::stacked ? "the mean" : "the least and the largest";
  return fmt::format("Of {} iterations {} columns, each with {} of its own.", most, kColumns, what);
}

}  // namespace maxplus
