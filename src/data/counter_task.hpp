#pragma once
// What the tasks have in common whose problems are drawn one by one from counters: `arithmetic`, `sorting`,
// `letter_counting` and `graph_paths`. Each of them says only how one problem is drawn and worked out.
//
// Whether a problem is held out is a function of the problem itself (a hash of its identity), so no problem can be on
// both sides. All are written in one alphabet, so that they can be mixed; the answer stands in <answer>…</answer>.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "data/draws.hpp"
#include "data/task.hpp"
#include "rl/sample.hpp"

namespace maxplus {

struct CounterProblem {
  std::string prompt;
  std::string identity;         // equal where the same is asked, whatever the order of its parts
  std::int64_t difficulty = 1;  // what a curriculum sorts by
  Json answer;
  // The way to the answer and the answer in its tag. Each of its steps goes wrong with probability `slip`; what follows
  // goes on from the wrong one.
  std::function<std::string(Draws& draws, double slip)> worked;
};

class CounterProblems {
 public:
  virtual ~CounterProblems() = default;
  virtual std::string_view name() const = 0;  // of the task and of its verifier
  virtual std::string settings() const = 0;   // the values of its own keys, for the hash
  virtual CounterProblem draw(Draws& draws) const = 0;
};

// Reads the keys that all of these tasks have, and makes the task. Returns null if the reader has collected faults.
std::shared_ptr<const Task> make_counter_task(KeyReader& keys, std::shared_ptr<const Tokenizer> tokenizer,
                                              std::shared_ptr<const CounterProblems> problems);

struct Range {
  std::int64_t low = 0, high = 0;
};
// The keys min_<what> and max_<what>, of which the first may not be above the second.
Range read_range(KeyReader& keys, const std::string& what, Range standard, Range allowed, const std::string& meaning);

std::string in_answer_tag(std::string_view text);

}  // namespace maxplus
