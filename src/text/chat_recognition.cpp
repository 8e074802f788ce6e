#include "text/chat_recognition.hpp"

#include <array>

#include <fmt/format.h>

#include "base/fingerprint.hpp"
#include "text/jinja_normal_form.hpp"

namespace maxplus {

namespace {

constexpr std::string_view kSmolLm2System = "You are a helpful AI assistant named SmolLM, trained by Hugging Face";
constexpr std::string_view kQwen25System = "You are Qwen, created by Alibaba Cloud. You are a helpful assistant.";
constexpr std::string_view kThought = "<think>\n";

struct KnownTemplate {
  std::string_view hash;
  ChatStyle style;
  std::string_view name;
  std::string_view generation_suffix;
};

// Hashes of normal forms; tests/data/chat says which text each is of.
constexpr std::array<KnownTemplate, 13> kKnownTemplates = {{
    {"36dda352d21362d520372d70f548897e", ChatStyle::chatml, "chatml", ""},
    {"7ffa5d08190a974eb4d680873c01fed3", ChatStyle::chatml, "chatml", ""},
    {"267012d527f397c61ae696f8ca5ee79b", ChatStyle::chatml, "chatml",
     ""},  // with a default system message: Qwen2, SmolLM, SmolLM2
    {"0e69b6dbce85756bdae7f79340a19ee5", ChatStyle::qwen, "qwen2.5", ""},
    {"07c489ac6d42f4621a17abbb68515c0d", ChatStyle::qwen3, "qwen3", ""},      // Qwen3, first
    {"16d6ad2a37a9cf1be0b5e01fbe43e835", ChatStyle::qwen3, "qwen3", ""},      // Qwen3, revised
    {"28d2541e528caf885d5f6eb585482511", ChatStyle::qwen, "qwen3-2507", ""},  // Qwen3-Instruct-2507: no thoughts
    {"b9b338d7acd3b59c818f712a9172e259", ChatStyle::llama3, "llama3", ""},
    {"cfa243f078ece8e2c9aa7a715ec0889f", ChatStyle::llama3, "llama3", ""},
    {"702f16729dc6f4fb7073cefc79ff1e50", ChatStyle::llama3_1, "llama3.1", ""},        // Llama 3.1, 3.3
    {"4a619c1a1df50023a3d538831e42514f", ChatStyle::llama3_1, "llama3.1", ""},        // Llama 3.2
    {"7e397fb5d3631c1993085bd4f52ff7b9", ChatStyle::deepseek_r1, "deepseek-r1", ""},  // DeepSeek-R1-Distill, first
    {"71d85513ff57067baa9232c0b03a0d7d", ChatStyle::deepseek_r1, "deepseek-r1",
     kThought},  // DeepSeek-R1-Distill, revised
}};

struct TemplateFingerprint {
  std::string hash;
  std::optional<std::string> default_system;
};

// The default system message: what stands in a literal between the marks of a system turn.
std::optional<std::string> default_system_in(const std::vector<JinjaToken>& tokens) {
  constexpr std::string_view kBegin = "<|im_start|>system\n", kEnd = "<|im_end|>\n";
  for (const JinjaToken& token : tokens) {
    const std::string_view value = token.value;
    if (token.kind == JinjaToken::Kind::literal && value.size() > kBegin.size() + kEnd.size() &&
        value.substr(0, kBegin.size()) == kBegin && value.substr(value.size() - kEnd.size()) == kEnd)
      return std::string(value.substr(kBegin.size(), value.size() - kBegin.size() - kEnd.size()));
  }
  return std::nullopt;
}

TemplateFingerprint fingerprint_of(std::string_view published) {
  const std::vector<JinjaToken> tokens = jinja_tokens(published);
  TemplateFingerprint result;
  result.default_system = default_system_in(tokens);
  std::string form;
  for (const JinjaToken& token : tokens) {
    std::string value = token.value;
    if (token.kind == JinjaToken::Kind::literal && result.default_system) {
      if (value == *result.default_system) {
        value = "\x01";
      } else if (value == "<|im_start|>system\n" + *result.default_system + "<|im_end|>\n") {
        value = "<|im_start|>system\n\x01<|im_end|>\n";
      }
    }
    form += fmt::format("{}{}:{}", static_cast<int>(token.kind), value.size(), value);
  }
  result.hash = fingerprint(form);
  return result;
}

}  // namespace

std::string chat_template_hash(std::string_view published) { return fingerprint_of(published).hash; }

std::optional<ChatFormat> recognise_chat_template(std::string_view published) {
  const TemplateFingerprint found = fingerprint_of(published);
  for (const KnownTemplate& known : kKnownTemplates) {
    if (known.hash != found.hash) continue;
    ChatFormat format{known.style, std::string(known.name), found.default_system, std::string(known.generation_suffix)};
    if (format.style == ChatStyle::chatml && found.default_system == kSmolLm2System) format.name = "smollm2";
    return format;
  }
  return std::nullopt;
}

std::optional<ChatFormat> chat_format_named(std::string_view name) {
  if (name == "chatml") return ChatFormat{ChatStyle::chatml, "chatml", std::nullopt, ""};
  if (name == "smollm2") return ChatFormat{ChatStyle::chatml, "smollm2", std::string(kSmolLm2System), ""};
  if (name == "qwen2.5") return ChatFormat{ChatStyle::qwen, "qwen2.5", std::string(kQwen25System), ""};
  if (name == "qwen3") return ChatFormat{ChatStyle::qwen3, "qwen3", std::nullopt, ""};
  if (name == "llama3") return ChatFormat{ChatStyle::llama3, "llama3", std::nullopt, ""};
  if (name == "llama3.1") return ChatFormat{ChatStyle::llama3_1, "llama3.1", std::nullopt, ""};
  if (name == "deepseek-r1")
    return ChatFormat{ChatStyle::deepseek_r1, "deepseek-r1", std::nullopt, std::string(kThought)};
  return std::nullopt;
}

}  // namespace maxplus
