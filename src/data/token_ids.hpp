#pragma once
// Token ids that a line of a file gives instead of text.

#include <cstdint>
#include <string>
#include <vector>

#include "text/json_line.hpp"
#include "text/tokenizer.hpp"

namespace maxplus {

// The list under `key`, at least one id, all of the tokenizer's vocabulary where there is a tokenizer. Throws
// Error(ExitCode::data) with `where`.
std::vector<std::int32_t> token_ids(const Json& list, const std::string& key, const Tokenizer* tokenizer,
                                    const std::string& where);

}  // namespace maxplus
