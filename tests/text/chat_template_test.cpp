// Chat templates against what Jinja renders from the published texts, and against ids of SmolLM2.
#include "text/chat_template.hpp"

#include <algorithm>
#include <fstream>
#include <functional>
#include <iterator>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "text/chat_recognition.hpp"
#include "text/gguf_tokenizer.hpp"
#include "text/published_tokenizers.hpp"

namespace maxplus {
namespace {

using testing::Ids;

std::string file_text(const std::string& name) {
  std::ifstream file(testing::data_path(name), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string joined(const std::vector<TextPart>& parts) {
  std::string text;
  for (const TextPart& part : parts) text += part.text;
  return text;
}

// Templates that are not part of this project are named instead of recognised.
std::shared_ptr<const ChatTemplate> template_of(const std::string& name, bool thinking, const std::string& begin) {
  ChatSettings settings;
  settings.thinking = thinking;
  std::string published;
  if (name.rfind("llama", 0) == 0) {
    settings.format = name.rfind("llama3.", 0) == 0 ? "llama3.1" : "llama3";
  } else {
    published = file_text("chat/" + name + ".jinja");
  }
  return make_chat_template(settings, published, begin);
}

TEST(ChatTemplate, RendersWhatThePublishedTextsRender) {
  const auto lines = testing::json_lines_of("chat/expected.jsonl");
  ASSERT_GT(lines.size(), 400u);
  for (const auto& line : lines) {
    const auto name = line["template"].get<std::string>();
    const auto chat = template_of(name, line["thinking"].get<bool>(), line["begin"].get<std::string>());
    ASSERT_NE(chat, nullptr) << name;
    const std::vector<ChatMessage> messages = chat_messages_of(line["messages"], "test");
    const auto generation = line["generation"].get<bool>() ? GenerationPrompt::add : GenerationPrompt::none;
    EXPECT_EQ(joined(chat->render(messages, generation)), line["text"].get<std::string>()) << name << line["messages"];
  }
}

TEST(ChatTemplate, GivesTheIdsOfSmolLM2AndLeavesMarksOfMessagesAlone) {
  const testing::ScratchFolder folder("chat");
  testing::smollm2_metadata(file_text("chat/smollm2.jinja")).write(folder.path() / "m.gguf");
  PublishedTokenizer published = read_gguf_tokenizer(GgufFile(folder.path() / "m.gguf"));
  const auto tokenizer = make_bpe_tokenizer(std::move(published.description), published.where);
  ASSERT_NE(tokenizer->chat(), nullptr);
  EXPECT_EQ(tokenizer->chat()->name(), "smollm2");
  const auto lines = testing::json_lines_of("smollm2/chat.jsonl");
  int marks_in_content = 0;
  for (const auto& line : lines) {
    const std::vector<ChatMessage> messages = chat_messages_of(line["messages"], "test");
    const bool marked = line["messages"].dump().find("<|im_end|>") != std::string::npos;
    for (const auto generation : {GenerationPrompt::none, GenerationPrompt::add}) {
      const std::string key = generation == GenerationPrompt::add ? "_generation" : "";
      EXPECT_EQ(joined(tokenizer->chat()->render(messages, generation)), line["text" + key].get<std::string>());
      const Ids ids = encode_chat(*tokenizer, messages, generation);
      const auto expected = line["ids" + key].get<Ids>();
      if (marked) {
        EXPECT_LT(std::count(ids.begin(), ids.end(), 2), std::count(expected.begin(), expected.end(), 2));
        EXPECT_EQ(tokenizer->decode(ids), line["text" + key].get<std::string>());
      } else {
        EXPECT_EQ(ids, expected);
      }
    }
    marks_in_content += marked;
  }
  EXPECT_EQ(marks_in_content, 1);
  EXPECT_EQ(encode_prompt(*tokenizer, "Hi"), lines[0]["ids_generation"].get<Ids>());
}

TEST(ChatTemplate, RecognisesTheNormalFormAndNothingElse) {
  const std::string chatml = file_text("chat/chatml.jinja");
  const auto name = [](const std::string& text) {
    const auto format = recognise_chat_template(text);
    return format ? format->name : std::string("unknown");
  };
  EXPECT_EQ(name(chatml), "chatml");
  EXPECT_EQ(name(chatml + "\n"), "chatml");
  std::string spaced =
      "{#- a comment #}\n{%- for message in messages -%}\n  {{ \"<|im_start|>\"+message['role'] + '\n' + "
      "message['content'] + '<|im_end|>' + '\\n' }}{% endfor %}\n"
      "{%if add_generation_prompt%}{{'<|im_start|>assistant\\n'}}{%endif%}";
  EXPECT_EQ(name(spaced), "chatml") << "other white space, quotes and escapes, the same text";
  EXPECT_EQ(name(spaced + "!"), "unknown");
  spaced.replace(spaced.find("{% endfor"), 1, " {");
  EXPECT_EQ(name(spaced), "unknown") << "a blank that would be written";
  std::string other = chatml;
  other.replace(other.find("'content'"), 9, "'text'");
  EXPECT_EQ(name(other), "unknown");
  EXPECT_EQ(name(""), "unknown");
  EXPECT_EQ(name("{% for message in messages %}{{ '"), "unknown");
}

TEST(ChatTemplate, KeepsAChangedDefaultSystemMessage) {
  std::string text = file_text("chat/qwen2.5.jinja");
  const std::string published = "You are Qwen, created by Alibaba Cloud. You are a helpful assistant.";
  for (std::size_t at; (at = text.find(published)) != std::string::npos;)
    text.replace(at, published.size(), "Please reason step by step.");
  const auto chat = make_chat_template({}, text, "");
  EXPECT_EQ(chat->name(), "qwen2.5");
  const std::vector<ChatMessage> question = {{"user", "q"}};
  EXPECT_EQ(joined(chat->render(question, GenerationPrompt::add)),
            "<|im_start|>system\nPlease reason step by step.<|im_end|>\n<|im_start|>user\nq<|im_end|>\n"
            "<|im_start|>assistant\n");
}

std::string chat_refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(static_cast<int>(error.code()), static_cast<int>(ExitCode::data));
    return format_faults(error.faults());
  }
  ADD_FAILURE() << "no error";
  return "";
}

TEST(ChatTemplate, RefusesAnUnknownOneOnlyWhereItIsNeeded) {
  const auto chat = make_chat_template({}, "{{ messages }}", "");
  ASSERT_NE(chat, nullptr);
  const std::vector<ChatMessage> question = {{"user", "q"}};
  const std::string text = chat_refusal([&] { chat->render(question, GenerationPrompt::add); });
  EXPECT_NE(text.find("{{ messages }}"), std::string::npos);
  EXPECT_NE(text.find("raw"), std::string::npos);
  ChatSettings raw;
  raw.format = "raw";
  EXPECT_EQ(make_chat_template(raw, "{{ messages }}", ""), nullptr);
  EXPECT_EQ(make_chat_template({}, "", ""), nullptr);
}

TEST(ChatTemplate, WritesALiteralOneFromPrefixesAndSuffixes) {
  ChatSettings settings;
  settings.format = "literal";
  settings.begin = "<s>";
  settings.user = {"[INST] ", " [/INST]"};
  settings.assistant = {" ", "</s>"};
  settings.generation = " So:";
  const auto chat = make_chat_template(settings, "{{ messages }}", "");
  const std::vector<ChatMessage> messages = {{"user", "</s>"}, {"assistant", "b"}, {"user", "c"}};
  const std::vector<TextPart> parts = chat->render(messages, GenerationPrompt::add);
  EXPECT_EQ(joined(parts), "<s>[INST] </s> [/INST] b</s>[INST] c [/INST] So:");
  EXPECT_EQ(parts[1].text, "</s>");
  EXPECT_EQ(parts[1].special, SpecialText::as_text);
  EXPECT_EQ(chat->end_of_turn(), "</s>");
  const std::vector<ChatMessage> system = {{"system", "s"}};
  EXPECT_NE(chat_refusal([&] { chat->render(system, GenerationPrompt::none); }).find("'system'"), std::string::npos);
}

TEST(ChatMessages, TakesTextsAndPartsAndRefusesTheRest) {
  const auto parse = [](const std::string& text) { return chat_messages_of(Json::parse(text), "f:1"); };
  EXPECT_EQ(parse(R"([{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}])")[0]
                .content,
            "ab");
  for (const char* bad : {"7", "{}", R"([{"role": "user"}])", R"([{"role": "user", "content": null}])",
                          R"([{"role": "", "content": "x"}])", R"([{"content": "x"}])",
                          R"([{"role": "user", "content": [{"type": "image"}]}])",
                          R"([{"role": "assistant", "content": "", "tool_calls": [{}]}])"}) {
    EXPECT_NE(chat_refusal([&] { parse(bad); }).find("f:1"), std::string::npos) << bad;
  }
}

}  // namespace
}  // namespace maxplus
