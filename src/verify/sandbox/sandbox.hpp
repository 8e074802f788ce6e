#pragma once
// One sandbox and a program in it, from the judge's side.

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "verify/sandbox/broker.hpp"
#include "verify/sandbox/policy.hpp"

namespace maxplus {

// Our own failure, never the judged program's.
class SandboxFailure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct ProgramEnd {
  bool killed = false;  // by a signal
  int code = 0;         // exit code, or the signal
  double cpu_s = 0;
  std::string over;  // kOverFiles, kOverThreads; empty: it was not ended for too much of anything
};

class Sandbox {
 public:
  // `text`: the judged program, a file that the argument "{program}" stands for; empty in tier `none`: there is none
  // and no scratch folder either. Throws SandboxFailure.
  Sandbox(const Broker& broker, const SandboxPolicy& policy, std::string_view text);

  // Puts another text in place of the first, between two programs: a sandbox may serve many items, as nothing that ran
  // in it is left. Throws SandboxFailure.
  void take_text(std::string_view text);

  const SandboxPolicy& policy() const { return policy_; }
  int socket() const { return session_.number(); }  // readable when the program has ended

  // One program at a time; `descriptors` become its input, output and errors. Throws SandboxFailure, also where the
  // program could not be started (from read_end).
  void start(const nlohmann::json& what, std::span<const int> descriptors);
  void ask_to_stop();
  bool has_ended() const;
  ProgramEnd read_end();  // waits

 private:
  SandboxPolicy policy_;
  Descriptor session_;
};

// A running program: it is fed, read and ended from here. Its output is kept up to a limit.
class SandboxedProgram {
 public:
  using Clock = std::chrono::steady_clock;
  enum class Event { line, ended, late, flooded };

  // One program at a time in a sandbox. `argument` empty: the self-test, with `probe`. Throws SandboxFailure.
  SandboxedProgram(Sandbox& sandbox, std::vector<std::string> argument, const std::string& probe,
                   std::size_t output_limit);
  ~SandboxedProgram();  // ended and reaped
  SandboxedProgram(const SandboxedProgram&) = delete;
  SandboxedProgram& operator=(const SandboxedProgram&) = delete;

  void feed(std::string_view input);  // is written while waiting
  void close_input();                 // once all is written
  // Until the program has ended and all its output is read (`ended`), the deadline, or more output than allowed. With
  // `take_lines`, also until there is a whole line. Throws SandboxFailure.
  Event wait(Clock::time_point deadline);
  Event wait_for_line(Clock::time_point deadline);

  std::string take_line();  // without its line feed; after Event::line
  const std::string& output() const { return output_; }
  const ProgramEnd& end() const { return *end_; }  // after Event::ended, or stop()
  void stop();

 private:
  Event pump(Clock::time_point deadline, bool stop_at_line);
  void write_some();
  void take_end();
  bool read_some();  // false: flooded

  Sandbox& sandbox_;
  Descriptor input_, output_pipe_;
  std::string pending_, output_;
  std::size_t sent_ = 0, read_ = 0, output_limit_;
  bool input_closed_ = false;
  std::optional<ProgramEnd> end_;
};

}  // namespace maxplus
