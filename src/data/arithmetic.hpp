#pragma once
// The task `arithmetic`: a chain of + - *, every step in parentheses, "((7+5)-3)*2=". A demonstration works out one
// step after the other; the answer is the last value, which may be negative.

#include <memory>

#include "data/task.hpp"

namespace maxplus {

std::shared_ptr<const Task> make_arithmetic_task(KeyReader& keys, std::shared_ptr<const Tokenizer> tokenizer);

}  // namespace maxplus
