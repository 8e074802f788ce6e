#pragma once
// The tokenizer in the metadata of a GGUF file: tokenizer.ggml.model, .pre (which names the splitting rule), .tokens,
// .token_type, .merges, the ids of begin, end, unknown and padding, and tokenizer.chat_template.

#include "io/gguf.hpp"
#include "text/hf_tokenizer.hpp"

namespace maxplus {

bool has_gguf_tokenizer(const GgufFile& file);

// Another model than byte-level BPE, and a splitting rule that is not known here, are refused by name:
// Error(ExitCode::data).
PublishedTokenizer read_gguf_tokenizer(const GgufFile& file);

}  // namespace maxplus
