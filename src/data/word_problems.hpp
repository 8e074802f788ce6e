#pragma once
// The task `word_problems`: one-step word problems about small numbers, of six kinds, asked after three worked
// examples. For pretrained models: a tokenizer with a chat template gets question and answers as turns of a
// conversation without a system message, another one gets them as lines.
//
// A problem is a function of counters. Whether it is held out is a function of its two operands, so a held-out question
// asks for arithmetic that no training question asks for, in either order and under any names.

#include <memory>

#include "data/task.hpp"

namespace maxplus {

std::shared_ptr<const Task> make_word_problems_task(KeyReader& keys, std::shared_ptr<const Tokenizer> tokenizer);

}  // namespace maxplus
