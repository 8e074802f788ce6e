#pragma once
// Line charts and stacked areas as SVG text, with ticks at round numbers. Text stays text; colours are told apart by
// people who see few of them (palette of Okabe and Ito).

#include <cstdint>
#include <string>
#include <vector>

namespace maxplus {

struct Series {
  std::string label;
  std::vector<double> x, y;  // of equal length, x ascending
};

struct Chart {
  enum class Style : std::uint8_t { lines, stacked };  // stacked: as many values in each series, on the x of the first
  std::string name;                                    // of the file, without extension
  std::string title;
  std::string meaning;  // one line, for the page
  std::string y_label;
  Style style = Style::lines;
  bool from_zero = true;  // the y axis contains 0
  std::vector<Series> series;
};

// For HTML and SVG: & < > and both quotes; control characters but line ends and tabs become U+FFFD.
std::string escape(const std::string& text);
// "0.25", "20e-6", "500", "12k", "3M": as few digits as tell ticks that are `step` apart from each other.
std::string tick_text(double value, double step);
// Round numbers (1, 2 or 5 times a power of ten apart) that span [low, high] in about `count` steps.
std::vector<double> round_ticks(double low, double high, int count);

std::string svg_of(const Chart& chart);

}  // namespace maxplus
