// Figures: where points come to lie, and what thinning keeps.
#include "run/report/chart.hpp"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "run/report/thinning.hpp"

namespace maxplus {
namespace {

TEST(RoundTicks, AreRoundAndSpanTheData) {
  EXPECT_EQ(round_ticks(0, 1, 5), (std::vector<double>{0, 0.2, 0.4, 0.6000000000000001, 0.8, 1}));
  EXPECT_EQ(round_ticks(0, 97, 5), (std::vector<double>{0, 20, 40, 60, 80, 100}));
  const auto ticks = round_ticks(-0.03, 0.004, 5);
  EXPECT_LE(ticks.front(), -0.03);
  EXPECT_GE(ticks.back(), 0.004);
}

TEST(TickText, TellsTicksApart) {
  EXPECT_EQ(tick_text(0.6000000000000001, 0.2), "0.6");
  EXPECT_EQ(tick_text(20, 20), "20");
  EXPECT_EQ(tick_text(25000, 5000), "25k");
  EXPECT_EQ(tick_text(0, 0.1), "0");
  EXPECT_EQ(tick_text(2e-5, 2e-5), "20e-6");
  EXPECT_EQ(tick_text(1e-4, 2e-5), "100e-6");
  EXPECT_EQ(tick_text(5000, 5000), "5k");
  EXPECT_EQ(tick_text(1.001, 0.001), "1.001");
}

TEST(SvgOf, PutsPointsWhereTheNumbersSay) {
  Chart chart;
  chart.title = "a < b";
  chart.series = {{"one", {0, 10}, {0, 100}, {0, 80}, {20, 100}}};
  const std::string svg = svg_of(chart, ChartUse::file);
  // The plot is 322 wide from 52, and 180 high from 58; the y axis goes from 0 to 100.
  EXPECT_NE(svg.find("points='52.00,238.00 374.00,58.00'"), std::string::npos) << svg;
  EXPECT_NE(svg.find("points='52.00,202.00 374.00,58.00 374.00,94.00 52.00,238.00'"), std::string::npos) << svg;
  EXPECT_NE(svg.find("a &lt; b"), std::string::npos);
  for (const char* tick : {">0</text>", ">50</text>", ">100</text>", ">10</text>", ">iteration</text>"}) {
    EXPECT_NE(svg.find(tick), std::string::npos) << tick;
  }
  EXPECT_EQ(svg.find("<g class='tips'"), std::string::npos);
}

TEST(SvgOf, StacksAreasOnEachOther) {
  Chart chart;
  chart.style = Chart::Style::stacked;
  chart.series = {{"a", {1, 2}, {1, 1}, {}, {}}, {"b", {1, 2}, {1, 3}, {}, {}}};
  const std::string svg = svg_of(chart, ChartUse::file);
  // The sum goes up to 4, which is the top of the axis; a's top edge, at 1, is b's lower edge. An iteration is 161 wide.
  EXPECT_NE(svg.find("points='52.00,193.00 213.00,193.00 213.00,193.00 374.00,193.00 "), std::string::npos) << svg;
  EXPECT_NE(svg.find("points='52.00,148.00 213.00,148.00 213.00,58.00 374.00,58.00 374.00,193.00 213.00,193.00 213.00,193.00 52.00,193.00'"),
            std::string::npos) << svg;
}

TEST(SvgOf, DrawsOnePointAConstantAndNothing) {
  for (const std::vector<double>& y : {std::vector<double>{}, std::vector<double>{3}, std::vector<double>{2, 2, 2}, std::vector<double>{0, std::nan(""), 0},
                                       std::vector<double>{1e308, -1e308}, std::vector<double>{1e16, 1e16 + 2}}) {
    for (const bool from_zero : {true, false}) {
      for (const Chart::Style style : {Chart::Style::lines, Chart::Style::stacked}) {
        Chart chart;
        chart.from_zero = from_zero;
        chart.style = style;
        Series s;
        s.y = y;
        for (std::size_t i = 0; i < y.size(); ++i) s.x.push_back(static_cast<double>(i));
        chart.series = {s};
        const std::string svg = svg_of(chart, ChartUse::page);
        EXPECT_EQ(svg.find("nan"), std::string::npos);
        EXPECT_EQ(svg.find("inf"), std::string::npos);
      }
    }
  }
}

TEST(SvgOf, TellsItsNumbersUnderThePointer) {
  Chart chart;
  chart.series = {{"up", {1, 2}, {10, 20}, {}, {}}, {"rare", {2}, {0.5}, {}, {}}};
  const std::string svg = svg_of(chart, ChartUse::page);
  EXPECT_NE(svg.find("<title>iteration 1\nup: 10</title>"), std::string::npos) << svg;
  EXPECT_NE(svg.find("<title>iteration 2\nup: 20\nrare: 0.5</title>"), std::string::npos);
  Chart many;
  many.series = {{"up", {}, {}, {}, {}}};
  for (int i = 0; i < 480; ++i) many.series[0].x.push_back(i), many.series[0].y.push_back(i);
  EXPECT_NE(svg_of(many, ChartUse::page).find("<title>iterations 0 to 9\nup: 0 to 9</title>"), std::string::npos);
}

TEST(LinePoints, KeepFirstLeastLargestAndLastOfEachColumn) {
  std::vector<double> x, y;
  for (int i = 0; i < 1000; ++i) x.push_back(i), y.push_back(i % 7);
  y[123] = 50;
  y[777] = -50;
  y[778] = std::nan("");
  const auto kept = line_points(x, y, 10);
  EXPECT_LE(kept.size(), 40u);
  EXPECT_TRUE(std::is_sorted(kept.begin(), kept.end()));
  EXPECT_EQ(std::adjacent_find(kept.begin(), kept.end()), kept.end());
  for (const std::size_t wanted : {0u, 99u, 100u, 123u, 777u, 999u}) EXPECT_NE(std::find(kept.begin(), kept.end(), wanted), kept.end()) << wanted;
  EXPECT_EQ(std::find(kept.begin(), kept.end(), 778u), kept.end());
}

TEST(LinePoints, KeepAllOfFewHoweverTheyLie) {
  EXPECT_EQ(line_points({1, 2, 3, 1000}, {1, 1, 1, 1}, 10).size(), 4u);
  EXPECT_TRUE(line_points({}, {}, 10).empty());
}

TEST(BinsOf, HoldEveryPointOnce) {
  std::vector<double> x;
  for (int i = 0; i < 997; ++i) x.push_back(i < 500 ? i : 10 * i);
  const std::vector<Bin> bins = bins_of(x, 16);
  EXPECT_LE(bins.size(), 16u);
  std::size_t next = 0;
  for (const Bin& bin : bins) {
    EXPECT_EQ(bin.first, next);
    EXPECT_GT(bin.last, bin.first);
    next = bin.last;
  }
  EXPECT_EQ(next, x.size());
}

}  // namespace
}  // namespace maxplus
