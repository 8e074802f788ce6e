#include "run/progress.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace maxplus {

namespace {

constexpr std::size_t kPaceUpdates = 32;
constexpr double kLongestSilence_s = 60;
constexpr std::int64_t kLinesOfARun = 20;

}  // namespace

std::string duration_text(double seconds) {
  const auto s = static_cast<std::int64_t>(std::llround(std::max(seconds, 0.0)));
  if (s < 60) return fmt::format("{} s", s);
  if (s < 3600) return fmt::format("{} min {:02} s", s / 60, s % 60);
  if (s < 86400) return fmt::format("{} h {:02} min", s / 3600, s % 3600 / 60);
  return fmt::format("{} d {:02} h", s / 86400, s % 86400 / 3600);
}

Progress::Progress(ProgressKind kind, std::string noun, std::int64_t total, std::int64_t done, std::ostream& out,
                   Clock clock)
    : kind_(kind), noun_(std::move(noun)), total_(total), done_(done), out_(out), clock_(std::move(clock)) {
  pace_.emplace_back(clock_(), done);
}

Progress::~Progress() { pause(); }

void Progress::pause() {
  if (drawn_ == 0) return;
  out_ << '\n' << std::flush;
  drawn_ = 0;
}

double Progress::seconds_left() const {
  const auto& [first_s, first_done] = pace_.front();
  const auto& [last_s, last_done] = pace_.back();
  if (last_done <= first_done) return -1;
  const double each_s = (last_s - first_s) / static_cast<double>(last_done - first_done);
  // Work that has been going on since the last update is already paid for.
  return std::max(each_s * static_cast<double>(total_ - last_done) - (clock_() - last_s), 0.0);
}

std::string Progress::text(const std::string& detail) const {
  std::string line = fmt::format("{} {}/{}", noun_, done_, total_);
  if (!detail.empty()) line += "  " + detail;
  const double left = seconds_left();
  if (left >= 0 && done_ < total_) line += "  left " + duration_text(left);
  if (done_ >= total_) line += "  done";
  return line;
}

bool Progress::line_due() const {
  if (last_line_done_ < 0 || done_ >= total_) return true;
  if (clock_() - last_line_s_ >= kLongestSilence_s) return true;
  return done_ * kLinesOfARun / std::max<std::int64_t>(total_, 1) >
         last_line_done_ * kLinesOfARun / std::max<std::int64_t>(total_, 1);
}

void Progress::update(std::int64_t done, const std::string& detail) {
  if (kind_ == ProgressKind::none) return;
  done_ = done;
  if (done != pace_.back().second) pace_.emplace_back(clock_(), done);
  if (pace_.size() > kPaceUpdates) pace_.pop_front();
  std::string line = text(detail);
  if (kind_ == ProgressKind::lines) {
    if (!line_due()) return;
    out_ << line << '\n' << std::flush;
    last_line_s_ = clock_();
    last_line_done_ = done;
    return;
  }
  // One column stays free, or some terminals wrap. What is left of a longer line before is blanked.
  line.resize(std::min(line.size(), static_cast<std::size_t>(std::max(columns_ - 1, 1))));
  const std::size_t length = line.size();
  line.resize(std::max(length, drawn_), ' ');
  out_ << '\r' << line << std::flush;
  drawn_ = length;
}

}  // namespace maxplus
