#include "run/progress.hpp"

#include <algorithm>
#include <sstream>

#include <gtest/gtest.h>

namespace maxplus {
namespace {

TEST(Progress, SaysDurationsInTwoUnits) {
  EXPECT_EQ(duration_text(0.4), "0 s");
  EXPECT_EQ(duration_text(59.6), "1 min 00 s");
  EXPECT_EQ(duration_text(200), "3 min 20 s");
  EXPECT_EQ(duration_text(7500), "2 h 05 min");
  EXPECT_EQ(duration_text(3 * 86400 + 4 * 3600), "3 d 04 h");
}

TEST(Progress, DrawsOneLineOverItselfOnATerminal) {
  double now = 100;
  std::ostringstream out;
  {
    Progress progress(ProgressKind::draw, "iteration", 10, 0, out, [&] { return now; });
    now += 3;
    progress.update(1, "reward 0.43 with a long detail");
    now += 3;
    progress.update(2, "reward 0.5");
  }
  const std::string text = out.str();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\r'), 2);
  EXPECT_NE(text.find("iteration 1/10  reward 0.43 with a long detail  left 27 s"), std::string::npos) << text;
  // the second line is padded to the length of the first
  const std::string first = text.substr(1, text.rfind('\r') - 1), second = text.substr(text.rfind('\r') + 1);
  EXPECT_EQ(second.size(), first.size() + 1);
  EXPECT_NE(second.find("iteration 2/10  reward 0.5  left 24 s "), std::string::npos);
}

TEST(Progress, StaysWithinTheColumnsOfTheTerminal) {
  std::ostringstream out;
  Progress progress(ProgressKind::draw, "iteration", 10, 0, out, [] { return 0.0; });
  progress.set_columns(20);
  progress.update(1, std::string(200, 'x'));
  EXPECT_EQ(out.str().size(), 20u);  // the carriage return and 19 columns
}

TEST(Progress, WritesFewLinesInABatchLog) {
  double now = 0;
  std::ostringstream out;
  Progress progress(ProgressKind::lines, "iteration", 1000, 0, out, [&] { return now; });
  for (int i = 1; i <= 1000; ++i) {
    now += 0.01;
    progress.update(i, "");
  }
  const std::string text = out.str();
  const auto lines = std::count(text.begin(), text.end(), '\n');
  EXPECT_GE(lines, 20);
  EXPECT_LE(lines, 22);
  EXPECT_EQ(text.find('\r'), std::string::npos);
  EXPECT_NE(text.find("iteration 1000/1000  done\n"), std::string::npos);
}

TEST(Progress, IsNotSilentForLongerThanAMinuteInABatchLog) {
  double now = 0;
  std::ostringstream out;
  Progress progress(ProgressKind::lines, "iteration", 1000000, 0, out, [&] { return now; });
  for (int i = 1; i <= 60; ++i) {
    now += 10;
    progress.update(i, "");
  }
  const std::string text = out.str();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1 + 9);
}

TEST(Progress, TakesItsPaceFromThisStartAndNotFromTheRunBefore) {
  double now = 5000;
  std::ostringstream out;
  Progress progress(ProgressKind::draw, "iteration", 100, 90, out, [&] { return now; });
  EXPECT_LT(progress.seconds_left(), 0);
  now += 4;
  progress.update(92, "");
  EXPECT_DOUBLE_EQ(progress.seconds_left(), 16);
  now += 1;
  EXPECT_DOUBLE_EQ(progress.seconds_left(), 15);
}

TEST(Progress, WritesNothingWhenToldSo) {
  std::ostringstream out;
  {
    Progress progress(ProgressKind::none, "iteration", 10, 0, out, [] { return 0.0; });
    progress.update(1, "x");
  }
  EXPECT_EQ(out.str(), "");
}

}  // namespace
}  // namespace maxplus
