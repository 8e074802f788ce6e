#pragma once
// The task `countdown`: combine the given numbers, in any order and each once, by + - * / and parentheses, to reach the
// target; the answer stands in <answer>…</answer>. In characters.
//
// A problem is a function of counters; whether it is held out is a function of the problem itself (a hash of its sorted
// numbers and target), so no problem can be on both sides.

#include <memory>

#include "data/task.hpp"

namespace maxplus {

std::shared_ptr<const Task> make_countdown_task(KeyReader& keys, std::shared_ptr<const Tokenizer> tokenizer);

}  // namespace maxplus
