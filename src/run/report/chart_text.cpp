// Text and ticks of charts.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "run/report/chart.hpp"

namespace maxplus {

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

std::string number_text(double value) { return std::isfinite(value) ? fmt::format("{:.4g}", value) : ""; }

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

}  // namespace maxplus
