#pragma once
// Which of the known chat templates a published text is.
//
// The text is brought into a normal form, in which only what Jinja would render differently counts: white space that
// tags strip, blanks inside of tags, kinds of quotes and comments do not. The default system message is cut out, for it
// is what people change. The rest is compared by hash, so that a template that differs in anything else is unknown.

#include <optional>
#include <string>
#include <string_view>

namespace maxplus {

enum class ChatStyle { chatml, qwen, qwen3, llama3, llama3_1, deepseek_r1 };

struct ChatFormat {
  ChatStyle style;
  std::string name;                           // for people: "smollm2"
  std::optional<std::string> default_system;  // written where a conversation begins without a system message
  std::string generation_suffix;              // deepseek_r1: what the answer is made to begin with
};

std::optional<ChatFormat> recognise_chat_template(std::string_view published);
std::optional<ChatFormat> chat_format_named(std::string_view name);

// The hash by which a template is known, 32 hex digits; shown for those that are not.
std::string chat_template_hash(std::string_view published);

}  // namespace maxplus
