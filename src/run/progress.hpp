#pragma once
// The progress line with the time left: drawn over itself on a terminal, a few lines in a batch log, or nothing.

#include <cstdint>
#include <deque>
#include <functional>
#include <ostream>
#include <string>
#include <utility>

namespace maxplus {

enum class ProgressKind : std::uint8_t {
  draw,   // one line, rewritten with a carriage return
  lines,  // whole lines: the first, then one for each twentieth of the work, at least one a minute, and the last
  none,
};

// "4 s", "3 min 20 s", "2 h 05 min", "3 d 04 h".
std::string duration_text(double seconds);

class Progress {
 public:
  using Clock = std::function<double()>;  // seconds, never falling

  // `noun` is what is counted, as "iteration"; `total` of them, of which `done` were done before (a resumed run).
  Progress(ProgressKind kind, std::string noun, std::int64_t total, std::int64_t done, std::ostream& out, Clock clock);
  // A drawn line is ended, so that the next output begins on a line of its own.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // `done` of the total are done; `detail` is shown beside it, as "reward 0.43".
  void update(std::int64_t done, const std::string& detail);
  // Ends a drawn line; it is drawn anew at the next update.
  void pause();
  // From the pace of the last 32 updates; below 0 while unknown.
  double seconds_left() const;
  void set_columns(int columns) { columns_ = columns; }  // of the terminal; 80 unless told

 private:
  std::string text(const std::string& detail) const;
  bool line_due() const;

  ProgressKind kind_;
  std::string noun_;
  std::int64_t total_ = 0, done_ = 0;
  std::ostream& out_;
  Clock clock_;
  int columns_ = 80;
  std::deque<std::pair<double, std::int64_t>> pace_;  // time and done, the oldest first
  std::size_t drawn_ = 0;                             // characters on the drawn line
  double last_line_s_ = 0;
  std::int64_t last_line_done_ = -1;
};

}  // namespace maxplus
