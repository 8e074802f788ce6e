// The writers of the known templates, each of which gives what its published text gives for messages of a role and a
// content. Tool calls have no place in problems and are left out.
#include "text/chat_template.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "text/chat_recognition.hpp"
#include "text/unicode.hpp"
#include "text/utf8.hpp"

namespace maxplus {

namespace {

[[noreturn]] void refuse_chat(std::string found, std::string expected, std::string advice) {
  throw Error(ExitCode::data, Fault{"", std::move(found), std::move(expected), std::move(advice)});
}

// Parts of a conversation; neighbours of one meaning become one part.
class ChatText {
 public:
  ChatText& mark(std::string_view text) { return add(text, SpecialText::as_tokens); }
  ChatText& said(std::string_view text) { return add(text, SpecialText::as_text); }
  std::vector<TextPart> take() { return std::move(parts_); }

 private:
  ChatText& add(std::string_view text, SpecialText special) {
    if (text.empty()) return *this;
    if (!parts_.empty() && parts_.back().special == special) {
      parts_.back().text += text;
    } else {
      parts_.push_back({std::string(text), special});
    }
    return *this;
  }
  std::vector<TextPart> parts_;
};

// As Python strips a text: White_Space and the four separators U+001C to U+001F.
std::string_view stripped(std::string_view text) {
  const auto blank = [](char32_t code) { return class_of(code).is_space() || (code >= 0x1C && code <= 0x1F); };
  while (!text.empty() && blank(code_point_at(text, 0).code)) text.remove_prefix(code_point_at(text, 0).length);
  while (!text.empty()) {
    const std::size_t last = code_point_before(text, text.size());
    if (!blank(code_point_at(text, last).code)) break;
    text = text.substr(0, last);
  }
  return text;
}

std::string_view without_line_feeds_before(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of('\n'), text.size()));
}
std::string_view without_line_feeds_behind(std::string_view text) {
  return text.substr(0, text.find_last_not_of('\n') + 1);
}

std::string_view behind_last(std::string_view text, std::string_view mark) {
  const std::size_t at = text.rfind(mark);
  return at == std::string_view::npos ? text : text.substr(at + mark.size());
}

class FormatTemplate : public ChatTemplate {
 public:
  explicit FormatTemplate(ChatFormat format) : format_(std::move(format)) {}
  std::string name() const override { return format_.name; }
  std::vector<TextPart> render(std::span<const ChatMessage> messages, GenerationPrompt generation) const override {
    ChatText text;
    write(messages, generation, text);
    return text.take();
  }

 protected:
  virtual void write(std::span<const ChatMessage> messages, GenerationPrompt generation, ChatText& text) const = 0;
  // For templates that look at the first message.
  static const ChatMessage& first_of(std::span<const ChatMessage> messages) {
    if (messages.empty()) refuse_chat("the conversation has no message", "at least one {\"role\", \"content\"}", "");
    return messages[0];
  }
  [[noreturn]] void refuse_role(std::string_view role, std::string expected) const {
    refuse_chat(fmt::format("the chat template {} has no place for the role {}", name(), in_quotes(role)),
                std::move(expected), "change the role, or [tokenizer] chat_template");
  }
  ChatFormat format_;
};

// <|im_start|>role\ncontent<|im_end|>\n, for any role.
class ChatMlTemplate : public FormatTemplate {
 public:
  using FormatTemplate::FormatTemplate;
  std::string end_of_turn() const override { return "<|im_end|>"; }

 protected:
  void write(std::span<const ChatMessage> messages, GenerationPrompt generation, ChatText& text) const override {
    if (format_.default_system && !messages.empty() && messages[0].role != "system")
      turn("system", *format_.default_system, text);
    for (const ChatMessage& message : messages) turn(message.role, message.content, text);
    if (generation == GenerationPrompt::add) text.mark("<|im_start|>assistant\n");
  }
  static void turn(std::string_view role, std::string_view content, ChatText& text) {
    text.mark("<|im_start|>").said(role).mark("\n").said(content).mark("<|im_end|>\n");
  }
};

// Qwen2.5, and what of it Qwen3 has kept: answers of tools are shown to the model as one user turn.
class QwenTemplate : public ChatMlTemplate {
 public:
  using ChatMlTemplate::ChatMlTemplate;

 protected:
  void write(std::span<const ChatMessage> messages, GenerationPrompt generation, ChatText& text) const override {
    if (first_of(messages).role == "system") {
      turn("system", messages[0].content, text);
    } else if (format_.default_system) {
      turn("system", *format_.default_system, text);
    }
    for (std::size_t i = 0; i < messages.size(); ++i) {
      const std::string& role = messages[i].role;
      if (role == "tool") {
        tool(messages, i, text);
      } else if (role == "assistant") {
        answer(messages, i, text);
      } else if (role == "user" || role == "system") {
        if (role != "system" || i > 0) turn(role, messages[i].content, text);
      } else {
        refuse_role(role, "system, user, assistant or tool");
      }
    }
    if (generation == GenerationPrompt::add) text.mark("<|im_start|>assistant\n");
  }
  virtual void answer(std::span<const ChatMessage> messages, std::size_t i, ChatText& text) const {
    turn("assistant", messages[i].content, text);
  }

 private:
  static void tool(std::span<const ChatMessage> messages, std::size_t i, ChatText& text) {
    if (i == 0 || messages[i - 1].role != "tool") text.mark("<|im_start|>user");
    text.mark("\n<tool_response>\n").said(messages[i].content).mark("\n</tool_response>");
    if (i + 1 == messages.size() || messages[i + 1].role != "tool") text.mark("<|im_end|>\n");
  }
};

// Thoughts of earlier turns are left out; those behind the last question stay.
class Qwen3Template final : public QwenTemplate {
 public:
  Qwen3Template(ChatFormat format, bool thinking) : QwenTemplate(std::move(format)), thinking_(thinking) {}

 protected:
  void write(std::span<const ChatMessage> messages, GenerationPrompt generation, ChatText& text) const override {
    QwenTemplate::write(messages, generation, text);
    if (generation == GenerationPrompt::add && !thinking_) text.mark("<think>\n\n</think>\n\n");
  }
  void answer(std::span<const ChatMessage> messages, std::size_t i, ChatText& text) const override {
    constexpr std::string_view kOpen = "<think>", kClose = "</think>";
    std::string_view content = messages[i].content, thought;
    if (const std::size_t close = content.find(kClose); close != std::string_view::npos) {
      thought = behind_last(without_line_feeds_behind(content.substr(0, close)), kOpen);
      thought = without_line_feeds_before(thought);
      content = without_line_feeds_before(behind_last(content, kClose));
    }
    text.mark("<|im_start|>assistant\n");
    if (i > last_question(messages) && (i + 1 == messages.size() || !thought.empty())) {
      thought = without_line_feeds_behind(without_line_feeds_before(thought));
      text.mark("<think>\n").said(thought).mark("\n</think>\n\n");
      content = without_line_feeds_before(content);
    }
    text.said(content).mark("<|im_end|>\n");
  }

 private:
  static bool is_tool_answer(std::string_view content) {
    constexpr std::string_view kBegin = "<tool_response>", kEnd = "</tool_response>";
    return content.substr(0, kBegin.size()) == kBegin && content.size() >= kEnd.size() &&
           content.substr(content.size() - kEnd.size()) == kEnd;
  }
  static std::size_t last_question(std::span<const ChatMessage> messages) {
    for (std::size_t i = messages.size(); i-- > 0;) {
      if (messages[i].role == "user" && !is_tool_answer(messages[i].content)) return i;
    }
    return messages.size() - 1;
  }
  bool thinking_;
};

class Llama3Template : public FormatTemplate {
 public:
  Llama3Template(ChatFormat format, std::string begin_token)
      : FormatTemplate(std::move(format)), begin_token_(std::move(begin_token)) {}
  std::string end_of_turn() const override { return "<|eot_id|>"; }

 protected:
  void write(std::span<const ChatMessage> messages, GenerationPrompt generation, ChatText& text) const override {
    text.mark(begin_token_);
    for (const ChatMessage& message : messages) turn(message, text);
    if (generation == GenerationPrompt::add) text.mark("<|start_header_id|>assistant<|end_header_id|>\n\n");
  }
  static void turn(const ChatMessage& message, ChatText& text) {
    text.mark("<|start_header_id|>").said(message.role).mark("<|end_header_id|>\n\n");
    text.said(stripped(message.content)).mark("<|eot_id|>");
  }
  std::string begin_token_;
};

// Llama 3.1 to 3.3: always a system turn, with two dates.
class Llama31Template final : public Llama3Template {
 public:
  Llama31Template(ChatFormat format, std::string begin_token, std::string date)
      : Llama3Template(std::move(format), std::move(begin_token)), date_(std::move(date)) {}

 protected:
  void write(std::span<const ChatMessage> messages, GenerationPrompt generation, ChatText& text) const override {
    const bool has_system = first_of(messages).role == "system";
    text.mark(begin_token_).mark("<|start_header_id|>system<|end_header_id|>\n\n");
    text.mark("Cutting Knowledge Date: December 2023\nToday Date: ").said(date_).mark("\n\n");
    if (has_system) text.said(stripped(messages[0].content));
    text.mark("<|eot_id|>");
    for (const ChatMessage& message : messages.subspan(has_system ? 1 : 0)) {
      if (message.role == "tool" || message.role == "ipython") refuse_role(message.role, "system, user or assistant");
      turn(message, text);
    }
    if (generation == GenerationPrompt::add) text.mark("<|start_header_id|>assistant<|end_header_id|>\n\n");
  }

 private:
  std::string date_;
};

// The last system message of all stands at the beginning; thoughts of earlier answers are left out.
class DeepSeekR1Template final : public FormatTemplate {
 public:
  DeepSeekR1Template(ChatFormat format, std::string begin_token)
      : FormatTemplate(std::move(format)), begin_token_(std::move(begin_token)) {}
  std::string end_of_turn() const override { return "<｜end▁of▁sentence｜>"; }

 protected:
  void write(std::span<const ChatMessage> messages, GenerationPrompt generation, ChatText& text) const override {
    text.mark(begin_token_);
    for (std::size_t i = messages.size(); i-- > 0;) {
      if (messages[i].role != "system") continue;
      text.said(messages[i].content);
      break;
    }
    for (const ChatMessage& message : messages) {
      if (message.role == "user") {
        text.mark("<｜User｜>").said(message.content);
      } else if (message.role == "assistant") {
        text.mark("<｜Assistant｜>").said(behind_last(message.content, "</think>")).mark("<｜end▁of▁sentence｜>");
      } else if (message.role != "system") {
        refuse_role(message.role, "system, user or assistant");
      }
    }
    if (generation == GenerationPrompt::add) text.mark("<｜Assistant｜>").mark(format_.generation_suffix);
  }

 private:
  std::string begin_token_;
};

class LiteralTemplate final : public FormatTemplate {
 public:
  explicit LiteralTemplate(ChatSettings settings)
      : FormatTemplate({ChatStyle::chatml, "literal", std::nullopt, ""}), settings_(std::move(settings)) {}
  std::string end_of_turn() const override {
    return settings_.assistant.empty() ? std::string() : std::string(stripped(settings_.assistant[1]));
  }

 protected:
  void write(std::span<const ChatMessage> messages, GenerationPrompt generation, ChatText& text) const override {
    text.mark(settings_.begin);
    for (const ChatMessage& message : messages) {
      const std::vector<std::string>& around = around_role(message.role);
      text.mark(around[0]).said(message.content).mark(around[1]);
    }
    if (generation == GenerationPrompt::add)
      text.mark(settings_.generation.empty() ? around_role("assistant")[0] : settings_.generation);
  }

 private:
  const std::vector<std::string>& around_role(std::string_view role) const {
    const std::vector<std::string>& around = role == "system"      ? settings_.system
                                             : role == "user"      ? settings_.user
                                             : role == "assistant" ? settings_.assistant
                                                                   : kNone;
    if (around.size() != 2) refuse_role(role, "chat_system, chat_user and chat_assistant for the roles that occur");
    return around;
  }
  static const std::vector<std::string> kNone;
  ChatSettings settings_;
};
const std::vector<std::string> LiteralTemplate::kNone;

class UnknownTemplate final : public ChatTemplate {
 public:
  explicit UnknownTemplate(std::string_view published)
      : hash_(chat_template_hash(published)), beginning_(in_quotes(published)) {}
  std::string name() const override { return "unknown"; }
  std::string end_of_turn() const override { return ""; }
  std::vector<TextPart> render(std::span<const ChatMessage>, GenerationPrompt) const override {
    refuse_chat(fmt::format("the model's chat template is not known: {}, normal form {}", beginning_, hash_),
                fmt::format("one of {}", fmt::join(chat_format_names(), ", ")),
                "[tokenizer] chat_template = \"raw\" (generate: --raw) for prompts without a template, the name of one "
                "of these, or \"literal\" with chat_user, chat_assistant, ...");
  }

 private:
  std::string hash_, beginning_;
};

std::shared_ptr<const ChatTemplate> writer_of(ChatFormat format, const ChatSettings& settings,
                                              const std::string& begin_token) {
  switch (format.style) {
    case ChatStyle::chatml: return std::make_shared<ChatMlTemplate>(std::move(format));
    case ChatStyle::qwen: return std::make_shared<QwenTemplate>(std::move(format));
    case ChatStyle::qwen3: return std::make_shared<Qwen3Template>(std::move(format), settings.thinking);
    case ChatStyle::llama3: return std::make_shared<Llama3Template>(std::move(format), begin_token);
    case ChatStyle::llama3_1: return std::make_shared<Llama31Template>(std::move(format), begin_token, settings.date);
    case ChatStyle::deepseek_r1: return std::make_shared<DeepSeekR1Template>(std::move(format), begin_token);
  }
  return nullptr;
}

}  // namespace

const std::vector<std::string>& chat_format_names() {
  static const std::vector<std::string> names = {"chatml", "smollm2",  "qwen2.5",    "qwen3",
                                                 "llama3", "llama3.1", "deepseek-r1"};
  return names;
}

std::shared_ptr<const ChatTemplate> make_chat_template(const ChatSettings& settings, std::string_view published,
                                                       const std::string& begin_token) {
  if (settings.format == "raw") return nullptr;
  if (settings.format == "literal") return std::make_shared<LiteralTemplate>(settings);
  if (const auto named = chat_format_named(settings.format)) return writer_of(*named, settings, begin_token);
  MAXPLUS_REQUIRE(settings.format == "auto", settings.format);
  if (published.empty()) return nullptr;
  if (const auto found = recognise_chat_template(published)) return writer_of(*found, settings, begin_token);
  return std::make_shared<UnknownTemplate>(published);
}

}  // namespace maxplus
