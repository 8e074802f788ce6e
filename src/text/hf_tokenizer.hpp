#pragma once
// Tokenizers as Hugging Face folders hold them: tokenizer.json, and beside it tokenizer_config.json (names of the
// begin and end tokens, chat template), chat_template.jinja and generation_config.json (the tokens that end an answer).

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "text/bpe_description.hpp"

namespace maxplus {

struct PublishedTokenizer {
  BpeDescription description;
  std::vector<std::int32_t> stop;  // tokens that end an answer, the end token first; may be empty
  std::string where;               // the file
};

// Whether the folder has a tokenizer.json.
bool has_hf_tokenizer(const std::filesystem::path& folder);

// From a tokenizer.json, or a folder with one. What a tokenizer of another kind needs and this one lacks is refused by
// name: Error(ExitCode::data); Error(ExitCode::no_input) where there is no file.
PublishedTokenizer read_hf_tokenizer(const std::filesystem::path& path);

// The text of a tokenizer.json, from the outside in; `where` for messages.
BpeDescription parse_hf_tokenizer(std::string_view text, const std::string& where);

// tokenizer.json, tokenizer_config.json and, if there is a template, chat_template.jinja, as transformers reads them.
void write_hf_tokenizer(const BpeDescription& description, const std::filesystem::path& folder);

}  // namespace maxplus
