#pragma once
// The input lines of `logprob` and `tokenize`: {"ids": [...]}, {"text": "..."} or {"messages": [...]}.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "text/tokenizer.hpp"

namespace maxplus {

struct TokenLine {
  std::string where;                             // "file:line"
  std::optional<std::vector<std::int32_t>> ids;  // as given
  std::string text;                              // where no ids are given
};

// Every line must be an object with ids (0 <= id < vocabulary) or text; blank lines are passed over. All faults of the
// file at once: Error(data); Error(no_input) where there is none.
std::vector<TokenLine> read_token_lines(const std::filesystem::path& file, std::int64_t vocabulary);

// The same with every text encoded. 1 <= tokens <= context; without a tokenizer text is refused.
std::vector<TokenLine> read_encoded_lines(const std::filesystem::path& file, const Tokenizer* tokenizer,
                                          std::int64_t vocabulary, std::int64_t context);

}  // namespace maxplus
