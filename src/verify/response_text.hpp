#pragma once
// The text of a response: what verifiers and people see.

#include <string>

#include "rl/sample.hpp"
#include "text/tokenizer.hpp"

namespace maxplus {

// The rollout's tokens decoded as a whole; the stop token, which is there if the rollout ended by itself, is left out.
std::string response_text(const Tokenizer& tokenizer, const Rollout& rollout);

}  // namespace maxplus
