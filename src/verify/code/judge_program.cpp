#include "verify/code/judge_program.hpp"

#include <signal.h>

#include <algorithm>

#include <fmt/format.h>

#include "text/json_line.hpp"
#include "text/utf8.hpp"
#include "verify/code/comparison.hpp"
#include "verify/code/python_driver.hpp"

namespace maxplus {

namespace {

using Clock = SandboxedProgram::Clock;
using Event = SandboxedProgram::Event;

constexpr int kMaxReplyDepth = 200;

class Judging {
 public:
  Judging(Sandbox& sandbox, const CodeJudgeRules& rules, const CodeTests& tests)
      : sandbox_(sandbox),
        rules_(rules),
        tests_(tests),
        deadline_(Clock::now() +
                  std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(rules.timeout_s))),
        output_left_(rules.output_bytes) {}

  CodeJudgement judge() {
    if (tests_.function.empty()) {
      each([this](const CodeTest& test) { return run_program(test); });
    } else {
      SandboxedProgram program(sandbox_, {rules_.python, "-I", "-B", "-c", kPythonDriver, "{program}", tests_.function},
                               "", rules_.output_bytes);
      each([&](const CodeTest& test) { return call_function(program, test); });
    }
    return judgement_;
  }

 private:
  // Why the test failed; empty: it passed.
  template <class Test>
  void each(Test one) {
    for (std::size_t i = 0; i < tests_.test.size() && !judgement_.timed_out && !over_; ++i) {
      const std::string reason = one(tests_.test[i]);
      if (reason.empty()) {
        ++judgement_.passed;
        continue;
      }
      if (judgement_.reason.empty()) judgement_.reason = fmt::format("test {}: {}", i + 1, reason);
      if (rules_.go_on == CodeJudgeRules::After::first_failure) return;
    }
  }

  std::string late() {
    judgement_.timed_out = true;
    return fmt::format("not done within {} s", rules_.timeout_s);
  }
  std::string flooded() {
    over_ = true;
    return fmt::format("more than {} bytes of output", rules_.output_bytes);
  }
  std::string ending(const ProgramEnd& end) {
    if (end.over == kOverFiles) return fmt::format("more than {} MiB of files", sandbox_.policy().files_mb);
    if (end.over == kOverThreads) return fmt::format("more than {} threads", task_limit(sandbox_.policy()));
    if (end.killed && (end.code == SIGXCPU || end.cpu_s >= static_cast<double>(sandbox_.policy().cpu_s))) return late();
    if (end.killed) return fmt::format("ended by signal {}", end.code);
    return fmt::format("exit code {}", end.code);
  }

  std::string run_program(const CodeTest& test) {
    SandboxedProgram program(sandbox_, rules_.command, "", output_left_);
    program.feed(test.input);
    program.close_input();
    const Event event = program.wait(deadline_);
    if (event == Event::late) return late();
    if (event == Event::flooded) return flooded();
    output_left_ -= std::min(output_left_, program.output().size());
    if (program.end().killed || program.end().code != 0) return ending(program.end());
    return same_output(test.output, program.output(), rules_.tolerance) ? "" : "another output";
  }

  std::string call_function(SandboxedProgram& program, const CodeTest& test) {
    program.feed(test.call.dump() + "\n");
    const Event event = program.wait_for_line(deadline_);
    if (event == Event::late) return late();
    if (event == Event::flooded) return flooded();
    if (event == Event::ended) {
      over_ = true;
      return ending(program.end());
    }
    const std::string line = program.take_line();
    const Json reply = is_nested_deeper_than(line, kMaxReplyDepth) ? Json() : Json::parse(line, nullptr, false);
    if (!reply.is_object()) return "an answer that is no value";
    if (const auto error = reply.find("error"); error != reply.end())
      return error->is_string() ? in_quotes(error->get<std::string>()) : "an error";
    const auto value = reply.find("value");
    if (value == reply.end()) return "an answer that is no value";
    if (same_value(test.expect, *value, rules_.tolerance)) return "";
    const bool wrapped = test.may_be_wrapped && test.expect.is_array() && test.expect.size() == 1;
    return wrapped && same_value(test.expect[0], *value, rules_.tolerance) ? "" : "another value";
  }

  Sandbox& sandbox_;
  const CodeJudgeRules& rules_;
  const CodeTests& tests_;
  Clock::time_point deadline_;
  std::size_t output_left_;
  bool over_ = false;  // nothing more can be run
  CodeJudgement judgement_;
};

}  // namespace

CodeJudgement judge_program(Sandbox& sandbox, const CodeJudgeRules& rules, const CodeTests& tests) {
  return Judging(sandbox, rules, tests).judge();
}

}  // namespace maxplus
