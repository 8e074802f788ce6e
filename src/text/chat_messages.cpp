// Conversations from JSON to messages to ids.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "text/chat_template.hpp"
#include "text/utf8.hpp"

namespace maxplus {

namespace {

std::optional<std::string> content_of(const Json& content) {
  if (content.is_string()) return content.get<std::string>();
  if (!content.is_array()) return std::nullopt;
  std::string text;
  for (const Json& part : content) {
    const bool is_text = part.is_object() && part.value("type", std::string()) == "text" && part.contains("text") &&
                         part["text"].is_string();
    if (!is_text) return std::nullopt;
    text += part["text"].get<std::string>();
  }
  return text;
}

}  // namespace

std::vector<ChatMessage> chat_messages_of(const Json& json, const std::string& where) {
  const auto refuse = [&where](std::string found) {
    throw Error(ExitCode::data, Fault{where, std::move(found), "[{\"role\": text, \"content\": text}, ...]",
                                      "repair the line; tool calls and images are not supported"});
  };
  if (!json.is_array()) refuse("the messages are no list");
  std::vector<ChatMessage> messages;
  for (const Json& entry : json) {
    const bool has_both =
        entry.is_object() && entry.contains("role") && entry["role"].is_string() && entry.contains("content");
    const std::optional<std::string> content = has_both ? content_of(entry["content"]) : std::nullopt;
    if (!content || entry["role"].get_ref<const std::string&>().empty())
      refuse(fmt::format("message {} of the prompt is not of the form {{\"role\", \"content\"}}", messages.size()));
    if (entry.contains("tool_calls") && !entry["tool_calls"].empty())
      refuse(fmt::format("message {} of the prompt has tool calls", messages.size()));
    messages.push_back({entry["role"].get<std::string>(), *content});
  }
  return messages;
}

std::vector<std::int32_t> encode_prompt(const Tokenizer& tokenizer, const std::string& text) {
  if (tokenizer.chat() == nullptr) return tokenizer.encode(text, SpecialText::as_text);
  const ChatMessage question{"user", text};
  return encode_chat(tokenizer, {&question, 1}, GenerationPrompt::add);
}

std::int32_t answer_end(const Tokenizer& tokenizer) {
  if (tokenizer.chat() != nullptr && !tokenizer.chat()->end_of_turn().empty()) {
    if (const auto id = tokenizer.id_of(tokenizer.chat()->end_of_turn())) return *id;
  }
  if (tokenizer.end_token() >= 0) return tokenizer.end_token();
  throw Error(ExitCode::data, Fault{"", "the tokenizer does not say which token ends an answer", "an end token",
                                    "[tokenizer] path with end_token = its text"});
}

std::vector<std::int32_t> encode_chat(const Tokenizer& tokenizer, std::span<const ChatMessage> messages,
                                      GenerationPrompt generation) {
  if (tokenizer.chat() == nullptr) {
    throw Error(ExitCode::data,
                Fault{"", "messages need a chat template, and this model has none", "a text, or token ids",
                      "[tokenizer] chat_template = the name of one, or \"literal\" with chat_user, "
                      "chat_assistant, ..."});
  }
  return tokenizer.encode_parts(tokenizer.chat()->render(messages, generation));
}

}  // namespace maxplus
