#pragma once
// The input lines of `logprob` and `tokenize`: {"ids": [...]}, {"text": "..."} or {"messages": [...]}.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "run/model_source.hpp"
#include "text/chat_template.hpp"
#include "text/tokenizer.hpp"

namespace maxplus {

struct TokenLine {
  std::string where;                             // "file:line"
  std::optional<std::vector<std::int32_t>> ids;  // as given
  std::optional<std::vector<ChatMessage>> messages;
  std::string text;  // where neither is given
};

// Every line must be an object with ids (0 <= id < vocabulary), messages or text; blank lines are passed over. All
// faults of the file at once: Error(data); Error(no_input) where there is none.
std::vector<TokenLine> read_token_lines(const std::filesystem::path& file, std::int64_t vocabulary);

// The ids of a line: those given, else encoded. Its place stands in what is thrown.
std::vector<std::int32_t> encode_line(const TokenLine& line, const Tokenizer& tokenizer, SpecialText special,
                                      GenerationPrompt generation);

// The same with every line encoded. 1 <= tokens <= context; for a model without a tokenizer text is refused.
std::vector<TokenLine> read_encoded_lines(const std::filesystem::path& file, const OpenedModel& model);

}  // namespace maxplus
