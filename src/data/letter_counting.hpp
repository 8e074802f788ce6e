#pragma once
// The task `letter_counting`: how often a letter stands in a word, "count a in abcab:". A demonstration counts along
// the word. A word is on one side, whatever letter is asked for.

#include <memory>

#include "data/task.hpp"

namespace maxplus {

std::shared_ptr<const Task> make_letter_counting_task(KeyReader& keys, std::shared_ptr<const Tokenizer> tokenizer);

}  // namespace maxplus
