#pragma once
// An environment: a program of the user's that answers calls in the middle of a rollout.
//
// It gets one JSON line a call and answers with one; nothing of a rollout is kept in it, so that a program may be
// replaced at any time and several may share the calls. What a call is, and what becomes of an answer, is the
// generator's.

#include <cstdint>
#include <future>
#include <memory>
#include <span>
#include <string>

#include "rl/sample.hpp"
#include "text/key_reader.hpp"
#include "verify/command_workers.hpp"

namespace maxplus {

struct EnvironmentRules {
  std::string call_begin, call_end;    // a call is the text between them
  std::int64_t max_turns = 0;          // calls of a rollout that are answered
  std::int64_t max_answer_tokens = 0;  // the rest of an answer is cut off
};

class Environment {
 public:
  struct Turn {
    std::string call, text;
  };
  struct Answer {
    std::string text;
    bool end = false;     // the rollout ends here
    std::string failure;  // why there is no answer; empty if there is
  };

  // `workers` null: only the keys were read, and every call fails.
  Environment(EnvironmentRules rules, std::unique_ptr<CommandWorkers> workers);

  const EnvironmentRules& rules() const { return rules_; }
  // Hands a call over; `turns` are those before it. The answer is read_answer() of what comes.
  std::future<CommandWorkers::Answer> ask(const Problem& problem, const RolloutId& rollout, std::span<const Turn> turns,
                                          const std::string& call) const;
  static Answer read_answer(const CommandWorkers::Answer& answer);

 private:
  EnvironmentRules rules_;
  std::unique_ptr<CommandWorkers> workers_;
};

// Throws Error(ExitCode::config) with all faults. `folder`: where the program is started; `broker` null: only the keys
// are read.
std::shared_ptr<const Environment> make_environment(const nlohmann::json& keys, const std::string& folder,
                                                    std::shared_ptr<const Broker> broker, const Locate& locate);

}  // namespace maxplus
