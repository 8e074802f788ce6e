#pragma once
// The run's log: one event a line, to standard error and to the run's log.txt.
//
// Rank 0 speaks for the job; another rank speaks only in trouble, and then says which rank it is. Progress lines that
// are drawn over each other do not come through here.

#include <filesystem>
#include <memory>
#include <string_view>

namespace maxplus {

enum class Verbosity {
  quiet,
  normal
};  // quiet: warnings and trouble only, on standard error; the file gets everything

class Log {
 public:
  Log(int rank, Verbosity verbosity);
  ~Log();
  Log(Log&&) noexcept;
  Log& operator=(Log&&) noexcept;

  // From now on lines go to this file too, appended. Rank 0 creates it at once, others when they first have trouble.
  // Throws Error(ExitCode::cannot_create) if it cannot be opened; a disk that fills up later loses lines, not the run.
  void open(const std::filesystem::path& file);

  void event(std::string_view line);    // rank 0
  void warning(std::string_view line);  // rank 0
  void trouble(std::string_view line);  // every rank
  void flush();

 private:
  struct Sinks;
  std::unique_ptr<Sinks> sinks_;
};

}  // namespace maxplus
