#include "run/report_chart.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace maxplus {

namespace {

constexpr double kWidth = 520, kLeft = 58, kRight = 16, kBottom = 42, kPlotHeight = 220;
constexpr double kCharacter = 6.9;  // mean width of the 12 pixel font
constexpr std::array<const char*, 8> kColours = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                 "#8c6d00", "#56b4e9", "#444444", "#e69f00"};

const char* colour(std::size_t i) { return kColours[i % kColours.size()]; }

struct Range {
  double low = std::numeric_limits<double>::infinity(), high = -std::numeric_limits<double>::infinity();
  void add(double v) {
    if (!std::isfinite(v)) return;
    low = std::min(low, v);
    high = std::max(high, v);
  }
  bool empty() const { return low > high; }
};

// Maps data to pixels.
struct Frame {
  Range x, y;
  double top = 0;
  double px(double v) const { return kLeft + (v - x.low) / (x.high - x.low) * (kWidth - kLeft - kRight); }
  double py(double v) const { return top + kPlotHeight - (v - y.low) / (y.high - y.low) * kPlotHeight; }
};

// Running sums of a stack: sums[k][i] is the height of series 0..k at point i.
std::vector<std::vector<double>> stack_of(const Chart& chart) {
  std::vector<std::vector<double>> sums;
  for (const Series& s : chart.series) {
    std::vector<double> sum = sums.empty() ? std::vector<double>(s.y.size(), 0.0) : sums.back();
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += i < s.y.size() && std::isfinite(s.y[i]) ? s.y[i] : 0.0;
    sums.push_back(std::move(sum));
  }
  return sums;
}

Frame frame_of(const Chart& chart, double top) {
  Frame frame;
  frame.top = top;
  if (chart.from_zero) frame.y.add(0);
  for (const Series& s : chart.series) {
    for (const double v : s.x) frame.x.add(v);
    if (chart.style == Chart::Style::lines) {
      for (const double v : s.y) frame.y.add(v);
    }
  }
  if (chart.style == Chart::Style::stacked) {
    for (const auto& sum : stack_of(chart)) {
      for (const double v : sum) frame.y.add(v);
    }
  }
  if (frame.x.empty()) frame.x = {0, 1};
  if (chart.style == Chart::Style::stacked) frame.x = {frame.x.low - 0.5, frame.x.high + 0.5};
  if (frame.y.empty()) frame.y = {0, 1};
  if (frame.x.low == frame.x.high) frame.x = {frame.x.low - 0.5, frame.x.high + 0.5};
  if (frame.y.low == frame.y.high) {
    const double margin = frame.y.low == 0 ? 1 : 0.1 * std::abs(frame.y.low);
    frame.y = {chart.from_zero ? frame.y.low : frame.y.low - margin, frame.y.high + margin};
  }
  const std::vector<double> ticks = round_ticks(frame.y.low, frame.y.high, 5);
  frame.y = {std::min(frame.y.low, ticks.front()), std::max(frame.y.high, ticks.back())};
  return frame;
}

std::string axes(const Frame& frame, const Chart& chart) {
  std::string svg;
  const double bottom = frame.top + kPlotHeight, right = kWidth - kRight;
  const std::vector<double> y_ticks = round_ticks(frame.y.low, frame.y.high, 5);
  const double y_step = y_ticks[1] - y_ticks[0];
  for (const double v : y_ticks) {
    const double y = frame.py(v);
    if (y < frame.top - 0.5 || y > bottom + 0.5) continue;
    svg += fmt::format("<line x1='{:.1f}' x2='{:.1f}' y1='{:.1f}' y2='{:.1f}' stroke='#e6e6e6'/>", kLeft, right, y, y);
    svg += fmt::format("<text x='{:.1f}' y='{:.1f}' text-anchor='end'>{}</text>\n", kLeft - 6, y + 4,
                       tick_text(v, y_step));
  }
  const std::vector<double> x_ticks = round_ticks(frame.x.low, frame.x.high, 6);
  const double x_step = x_ticks[1] - x_ticks[0];
  for (const double v : x_ticks) {
    const double x = frame.px(v);
    if (x < kLeft - 0.5 || x > right + 0.5 || v != std::round(v)) continue;  // iterations are whole
    svg +=
        fmt::format("<line x1='{:.1f}' x2='{:.1f}' y1='{:.1f}' y2='{:.1f}' stroke='#888'/>", x, x, bottom, bottom + 4);
    svg += fmt::format("<text x='{:.1f}' y='{:.1f}' text-anchor='middle'>{}</text>\n", x, bottom + 17,
                       tick_text(v, x_step));
  }
  svg += fmt::format("<line x1='{:.1f}' x2='{:.1f}' y1='{:.1f}' y2='{:.1f}' stroke='#888'/>\n", kLeft, right, bottom,
                     bottom);
  svg +=
      fmt::format("<text x='{:.1f}' y='{:.1f}' text-anchor='end' fill='#666'>iteration</text>\n", right, bottom + 34);
  if (!chart.y_label.empty()) {
    svg += fmt::format("<text x='{:.1f}' y='{:.1f}' text-anchor='start' fill='#666'>{}</text>\n", 4.0, frame.top - 16,
                       escape(chart.y_label));
  }
  return svg;
}

std::string line_of(const Frame& frame, const Series& s, const char* stroke) {
  std::string points, marks;
  const bool few = s.x.size() <= 40;
  for (std::size_t i = 0; i < s.x.size(); ++i) {
    if (!std::isfinite(s.y[i])) continue;
    points += fmt::format("{:.2f},{:.2f} ", frame.px(s.x[i]), frame.py(s.y[i]));
    if (few)
      marks += fmt::format("<circle cx='{:.2f}' cy='{:.2f}' r='2.2' fill='{}'/>", frame.px(s.x[i]), frame.py(s.y[i]),
                           stroke);
  }
  if (!points.empty()) points.pop_back();
  return fmt::format("<polyline fill='none' stroke='{}' stroke-width='1.8' stroke-linejoin='round' points='{}'/>{}\n",
                     stroke, points, marks);
}

// A point of a stack stands for its iteration, half a unit to both sides.
std::string step_edge(const Frame& frame, const std::vector<double>& x, const std::vector<double>* height,
                      bool backwards) {
  std::string points;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const std::size_t i = backwards ? x.size() - 1 - k : k;
    const double half = backwards ? -0.5 : 0.5, y = height == nullptr ? 0.0 : (*height)[i];
    points += fmt::format("{:.2f},{:.2f} {:.2f},{:.2f} ", frame.px(x[i] - half), frame.py(y), frame.px(x[i] + half),
                          frame.py(y));
  }
  return points;
}

std::string areas(const Frame& frame, const Chart& chart) {
  std::string svg;
  const auto sums = stack_of(chart);
  const std::vector<double>& x = chart.series[0].x;
  for (std::size_t k = 0; k < sums.size(); ++k) {
    std::string points =
        step_edge(frame, x, &sums[k], false) + step_edge(frame, x, k == 0 ? nullptr : &sums[k - 1], true);
    if (!points.empty()) points.pop_back();
    svg += fmt::format("<polygon fill='{}' fill-opacity='0.75' points='{}'/>\n", colour(k), points);
  }
  return svg;
}

// Labels side by side, in as many lines as they need; `y` is moved below them.
std::string legend(const Chart& chart, double& y) {
  std::string svg;
  double x = kLeft;
  for (std::size_t k = 0; k < chart.series.size(); ++k) {
    const double width = 38 + kCharacter * static_cast<double>(chart.series[k].label.size());
    if (x > kLeft && x + width > kWidth) {
      x = kLeft;
      y += 18;
    }
    svg += fmt::format("<rect x='{:.1f}' y='{:.1f}' width='14' height='4' rx='2' fill='{}'/>", x, y - 6, colour(k));
    svg += fmt::format("<text x='{:.1f}' y='{:.1f}'>{}</text>\n", x + 19, y, escape(chart.series[k].label));
    x += width;
  }
  y += 38;
  return svg;
}

}  // namespace

std::string escape(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '&')
      escaped += "&amp;";
    else if (c == '<')
      escaped += "&lt;";
    else if (c == '>')
      escaped += "&gt;";
    else if (c == '"')
      escaped += "&quot;";
    else if (c == '\'')
      escaped += "&#39;";
    else if ((byte < 32 && c != '\n' && c != '\t') || byte == 127)
      escaped += "\xef\xbf\xbd";
    else
      escaped += c;
  }
  return escaped;
}

std::string tick_text(double value, double step) {
  // The step alone decides on the form, so that all ticks of an axis have the same.
  if (std::abs(value) < 1e-9 * step) return "0";
  if (step >= 1e9 || step < 1e-4) {
    const int exponent = 3 * static_cast<int>(std::floor((std::log10(step) + 1e-9) / 3));
    return fmt::format("{:g}e{}", value / std::pow(10.0, exponent), exponent);
  }
  if (step >= 1e6) return fmt::format("{:g}M", value / 1e6);
  if (step >= 1e3) return fmt::format("{:g}k", value / 1e3);
  const int digits = std::clamp(static_cast<int>(-std::floor(std::log10(step) + 1e-9)), 0, 8);
  return fmt::format("{:.{}f}", value, digits);
}

std::vector<double> round_ticks(double low, double high, int count) {
  const double rough = (high - low) / count;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  const double share = rough / power;
  const double step = (share <= 1 ? 1 : share <= 2 ? 2 : share <= 5 ? 5 : 10) * power;
  std::vector<double> ticks;
  const double first = std::floor(low / step + 1e-9), last = std::ceil(high / step - 1e-9);
  for (double k = first; k <= last; ++k) ticks.push_back(k * step);
  if (ticks.size() < 2) ticks.push_back(ticks.front() + step);
  return ticks;
}

std::string svg_of(const Chart& chart) {
  double y = 46;
  const std::string labels = legend(chart, y);
  const Frame frame = frame_of(chart, y);
  const double height = y + kPlotHeight + kBottom;
  std::string svg = fmt::format(
      "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {0:g} {1:g}' role='img' "
      "font-family='system-ui,Helvetica,Arial,sans-serif' "
      "font-size='12' fill='#222'>\n<title>{2}</title>\n<text x='{3:g}' y='20' font-size='15' "
      "font-weight='600'>{2}</text>\n",
      kWidth, height, escape(chart.title), 4.0);
  svg += labels + axes(frame, chart);
  if (chart.style == Chart::Style::stacked) {
    svg += areas(frame, chart);
  } else {
    for (std::size_t k = 0; k < chart.series.size(); ++k) svg += line_of(frame, chart.series[k], colour(k));
  }
  return svg + "</svg>\n";
}

}  // namespace maxplus
