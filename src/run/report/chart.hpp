#pragma once
// Line charts with bands, and stacked areas, as SVG text with ticks at round numbers. Text stays text; colours are told
// apart by people who see few of them (palette of Okabe and Ito).
//
// Every colour stands in an attribute, so that a file is whole by itself, and has a class, by which a page with a dark
// side puts another in its place: ink, quiet, rule, paper, c0 to c7.

#include <cstdint>
#include <string>
#include <vector>

namespace maxplus {

struct Series {
  std::string label;
  std::vector<double> x, y;       // of equal length, x ascending
  std::vector<double> low, high;  // the band around the line; empty: none
  int colour = 0, dash = 0;
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
// "0.5312", "1.2e-05"; empty for what is not finite.
std::string number_text(double value);
// Round numbers (1, 2 or 5 times a power of ten apart) that span [low, high] in about `count` steps.
std::vector<double> round_ticks(double low, double high, int count);

// Long curves are thinned to what can be seen (thinning.hpp): lines keep their extremes, stacks the mean of a column.
enum class ChartUse : std::uint8_t { file, page };  // a page's figure tells its numbers under the pointer
std::string svg_of(const Chart& chart, ChartUse use);
// Of any figure: its beginning, down to the title on its first 20 pixels, and the attributes of what is filled with a
// colour.
std::string svg_head(const std::string& title, double width, double height, ChartUse use);
std::string filled(int colour);
// What a reader must know of the thinning; empty where all points are drawn.
std::string thinning_note(const Chart& chart);

}  // namespace maxplus
