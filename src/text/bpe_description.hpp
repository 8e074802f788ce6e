#pragma once
// What a byte-level BPE tokenizer is, whichever file it came from: tokenizer.json (text/hf_tokenizer.hpp), the metadata
// of a GGUF file (text/gguf_tokenizer.hpp) or a checkpoint of ours (to_json of the tokenizer).
//
// Token texts stand as they are published: ordinary ones in the alphabet of GPT-2, in which every byte is a printable
// character (blank: U+0120), added ones as they are.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "text/chat_template.hpp"
#include "text/split_pattern.hpp"
#include "text/tokenizer.hpp"

namespace maxplus {

// A token that is found in the text before it is split into words.
struct AddedToken {
  std::int32_t id = 0;
  std::string content;
  bool special = true;      // has a meaning beyond its text: never found in plain text
  bool strip_left = false;  // takes the white space before it along, or that behind it
  bool strip_right = false;
  bool single_word = false;  // not inside a word
  bool normalized = false;   // searched after normalisation
  bool operator==(const AddedToken&) const = default;
};

struct SplitStep {
  std::string expression;
  SplitGaps gaps = SplitGaps::keep;
  bool operator==(const SplitStep&) const = default;
};

enum class TextNormalizer { none, nfc };

struct BpeDescription {
  std::vector<std::string> tokens;  // by id; an empty text: there is no such token
  std::vector<std::pair<std::string, std::string>> merges;
  std::vector<AddedToken> added;
  std::vector<SplitStep> splits;  // one after the other, each inside the words of the one before
  TextNormalizer normalizer = TextNormalizer::none;
  bool ignore_merges = false;  // a word that is a token is taken whole
  std::optional<std::int32_t> begin, end, unknown, padding;
  std::vector<std::int32_t> stop;  // tokens that end an answer, as the model's files say; may be empty
  std::string chat_template;       // as published; empty: none
  ChatSettings chat;               // what is made of it
  bool operator==(const BpeDescription&) const = default;
};

// The splitting expressions of the published families, in the words of their files.
extern const char* const kGpt2Expression;
extern const char* const kLlama3Expression;
extern const char* const kQwen2Expression;
extern const char* const kGpt4oExpression;
extern const char* const kTekkenExpression;
extern const char* const kDigitsExpression;  // every digit alone
std::vector<SplitStep> deepseek_v3_splits();

// The character of GPT-2's alphabet for each byte, and back: the bytes of a text in that alphabet, nothing if it has
// other characters.
const std::vector<std::string>& byte_alphabet();
std::optional<std::string> bytes_of_alphabet(std::string_view text);

// Ids up to `vocabulary` that no token has stand for nothing: networks often have more rows than tokens.
void pad_vocabulary(BpeDescription& description, std::int64_t vocabulary);

// Checks everything (ids, merges whose tokens exist, expressions); throws Error(ExitCode::data) with `where`, the file.
std::shared_ptr<const Tokenizer> make_bpe_tokenizer(BpeDescription description, const std::string& where);

// Of make_bpe_tokenizer; null for a tokenizer of another kind.
const BpeDescription* bpe_description_of(const Tokenizer& tokenizer);

nlohmann::ordered_json description_to_json(const BpeDescription& description);
BpeDescription description_from_json(const nlohmann::ordered_json& json);

}  // namespace maxplus
