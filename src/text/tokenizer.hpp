#pragma once
// Text to token ids and back.
//
// Sampled ids are the only truth; text is decoded from whole sequences, for scoring and for people. A tokenizer is
// immutable, travels inside checkpoints as JSON, and its hash says whether two runs speak the same ids.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/error.hpp"

namespace maxplus {

using Json = nlohmann::ordered_json;

// What a text may mean: what a user or a tool wrote is plain text, where "<eos>" must not become the end token.
enum class SpecialText { as_tokens, as_text };

// A stretch of a text with its meaning.
struct TextPart {
  std::string text;
  SpecialText special = SpecialText::as_text;
};

class ChatTemplate;

class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  // Throws Error(ExitCode::data) that says what is unknown and where it stands.
  virtual std::vector<std::int32_t> encode(std::string_view text, SpecialText special) const = 0;
  // The parts as one text, in which special tokens are found only inside of parts that mean them.
  virtual std::vector<std::int32_t> encode_parts(std::span<const TextPart> parts) const;
  // Valid UTF-8: what is none becomes U+FFFD. Special tokens are written as their pieces. Throws Error(ExitCode::data)
  // for an id outside the vocabulary.
  virtual std::string decode(std::span<const std::int32_t> ids) const = 0;
  // The bytes that the token stands for; a byte-level token may hold a part of a code point.
  virtual std::string bytes(std::int32_t id) const = 0;
  virtual std::optional<std::int32_t> id_of(std::string_view piece) const = 0;
  virtual std::int64_t vocabulary_size() const = 0;
  virtual std::int32_t end_token() const = 0;  // -1: it is not known
  virtual std::optional<std::int32_t> begin_token() const { return std::nullopt; }
  virtual bool is_special(std::int32_t id) const { return id == end_token(); }
  // How conversations are written; null: not at all. A text prompt is one user turn where there is a template.
  virtual const ChatTemplate* chat() const { return nullptr; }
  virtual Json to_json() const = 0;

  std::string piece(std::int32_t id) const;  // bytes as text, incomplete UTF-8 as <0xNN>
  std::string hash() const;                  // xxh3-128 of to_json(), 32 lower-case hex digits
  bool contains(std::int32_t id) const { return id >= 0 && id < vocabulary_size(); }
};

// Ids from 0 in the order of the alphabet's code points, then <eos>. Throws Error(ExitCode::config).
std::shared_ptr<const Tokenizer> make_character_tokenizer(std::string_view alphabet);
// Words stand between white space and are joined by one blank; ids from 0 in the order written, then <eos>.
// Throws Error(ExitCode::config).
std::shared_ptr<const Tokenizer> make_word_tokenizer(std::string_view words);

// From the keys of the deck's [tokenizer]: kind = "characters" with alphabet, or "words" with words. All faults at
// once, `where` in each; throws Error(ExitCode::config).
std::shared_ptr<const Tokenizer> tokenizer_from_keys(std::string_view kind, std::string_view alphabet,
                                                     std::string_view words, const std::string& where);
// The inverse of to_json(); throws Error(ExitCode::data).
std::shared_ptr<const Tokenizer> tokenizer_from_json(const Json& json);

}  // namespace maxplus
