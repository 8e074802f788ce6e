#pragma once
// The calls that rollouts make to an environment while they are drawn: found in their text, handed over, and turned
// into the tokens that go on.

#include <chrono>
#include <cstdint>
#include <future>
#include <optional>
#include <string>
#include <vector>

#include "rl/sample.hpp"
#include "text/tokenizer.hpp"
#include "verify/environment.hpp"

namespace maxplus {

class Turns {
 public:
  // Of so many rollouts, named by their index.
  Turns(const Environment& environment, const Tokenizer& tokenizer, std::size_t rollouts);

  enum class Found { nothing, call, one_too_many };
  // After each token that was drawn. A call has been handed over when this returns.
  Found look(std::size_t index, const Problem& problem, const Rollout& rollout);

  struct Continuation {
    std::vector<std::int32_t> token;  // what the environment says
    bool ends = false;                // so does the rollout
    std::string fault;                // there is no answer
  };
  // Nothing while the environment has not answered. The rollout's next call is looked for behind these tokens.
  std::optional<Continuation> take(std::size_t index, const Rollout& rollout);
  // Until that answer is there, or so long.
  void wait(std::size_t index, std::chrono::milliseconds longest) const;

 private:
  struct State {
    std::size_t begin = 0;  // of the tokens in which a call is looked for
    std::vector<Environment::Turn> turn;
    std::future<CommandWorkers::Answer> answer;
  };
  const Environment& environment_;
  const Tokenizer& tokenizer_;
  std::vector<State> state_;
};

}  // namespace maxplus
