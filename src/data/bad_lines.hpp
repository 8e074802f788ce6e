#pragma once
// What happens to the lines of a file that cannot be used: they end the run, all listed at once, or they are left out
// and counted, each kind with its first example.

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace maxplus {

enum class OnBadLine { stop, skip };
OnBadLine on_bad_line_of(const std::string& name);  // "stop" | "skip"; throws Error(ExitCode::config)

class BadLines {
 public:
  explicit BadLines(OnBadLine policy) : policy_(policy) {}

  void add(const Fault& fault);
  std::int64_t count() const { return count_; }
  void finish() const;  // throws Error(ExitCode::data) with the faults if there are any and the policy is stop
  std::string summary()
      const;  // "skipped 3 of 1000 lines; first: problems.jsonl:17: …", or "" if none; lines: set_lines()
  void set_lines(std::int64_t lines) { lines_ = lines; }

 private:
  OnBadLine policy_;
  std::int64_t count_ = 0, lines_ = 0;
  std::vector<Fault> listed_;
};

}  // namespace maxplus
