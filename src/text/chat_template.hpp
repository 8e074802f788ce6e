#pragma once
// Conversations as the text that a chat model was trained on. The published templates are programs; here they are
// recognised by their text (text/chat_recognition.hpp) and rendered by our own code. One that is not known is refused
// when it would be needed, never guessed.
//
// What the template writes means its special tokens; what people wrote (roles and contents) is plain text, so that a
// message cannot end its own turn.

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "text/tokenizer.hpp"

namespace maxplus {

struct ChatMessage {
  std::string role, content;
};

// [{"role", "content"}, ...]; content is a text, or a list of {"type": "text", "text"}. Error(ExitCode::data).
std::vector<ChatMessage> chat_messages_of(const nlohmann::ordered_json& json, const std::string& where);

// How a deck wants conversations to be written.
struct ChatSettings {
  std::string format = "auto";       // auto, raw, literal, or a name of chat_format_names()
  bool thinking = true;              // qwen3: false writes an empty thought before the answer
  std::string date = "26 Jul 2024";  // llama3.1: what its templates write where no clock is given
  // literal: what stands before and behind the content of each role, at the beginning, and before the answer.
  std::string begin, generation;
  std::vector<std::string> system, user, assistant;
  bool operator==(const ChatSettings&) const = default;
};

// "chatml", "smollm2", ...: what `format` may be besides auto, raw and literal.
const std::vector<std::string>& chat_format_names();

enum class GenerationPrompt { none, add };

class ChatTemplate {
 public:
  virtual ~ChatTemplate() = default;
  virtual std::string name() const = 0;
  // Throws Error(ExitCode::data) for a role that the template has no place for, and for no message at all where it
  // needs one.
  virtual std::vector<TextPart> render(std::span<const ChatMessage> messages, GenerationPrompt generation) const = 0;
  // The token text that ends an answer; empty: the template has none.
  virtual std::string end_of_turn() const = 0;
};

// `published`: the template's text, empty if the model has none. `begin_token`: the text of the begin token, empty if
// there is none. Null: conversations are not written (format "raw", or "auto" without a template). A template that is
// not recognised gives one whose render() refuses.
std::shared_ptr<const ChatTemplate> make_chat_template(const ChatSettings& settings, std::string_view published,
                                                       const std::string& begin_token);

// The same tokenizer with other settings. Error(ExitCode::config) where it cannot write conversations (it is none of
// bpe_description.hpp) and the settings ask for it.
std::shared_ptr<const Tokenizer> with_chat(const std::shared_ptr<const Tokenizer>& tokenizer, ChatSettings settings);

// Ids of a prompt: `text` as one user turn if the tokenizer has a chat template, else as it is.
std::vector<std::int32_t> encode_prompt(const Tokenizer& tokenizer, const std::string& text);
// The token that ends an answer: that of the chat template if there is one, else the tokenizer's. Error(ExitCode::data)
// if neither is known.
std::int32_t answer_end(const Tokenizer& tokenizer);
// Ids of a conversation, ready for the answer. Error(ExitCode::data) if the tokenizer has no chat template.
std::vector<std::int32_t> encode_chat(const Tokenizer& tokenizer, std::span<const ChatMessage> messages,
                                      GenerationPrompt generation);

}  // namespace maxplus
