// What [tokenizer] makes of a published tokenizer, and the lines of `tokenize`.
#include "run/text_choice.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "deck/deck.hpp"
#include "run/model_commands.hpp"
#include "text/bpe_description.hpp"
#include "text/hf_tokenizer.hpp"

namespace maxplus {
namespace {

const std::string kTokenizers = std::string(MAXPLUS_TEST_DATA) + "/tokenizers/";

Deck deck_with(const std::vector<std::string>& set) {
  DeckReading reading = empty_deck_and_faults(set);
  EXPECT_TRUE(reading.faults.empty());
  return std::move(reading.deck);
}

TEST(TextChoice, KnowsTheChatTemplatesThatADeckMayName) {
  for (const std::string& name : chat_format_names()) {
    const Deck deck = deck_with({"tokenizer.chat_template=" + name, "tokenizer.path=" + kTokenizers + "qwen2"});
    const auto tokenizer = as_deck_writes(deck, deck_tokenizer(deck));
    ASSERT_NE(tokenizer->chat(), nullptr) << name;
    EXPECT_EQ(tokenizer->chat()->name(), name);
  }
}

TEST(TextChoice, EndsAnswersWithTheTokensOfFilesAndTemplate) {
  const Deck deck = deck_with({"tokenizer.chat_template=chatml", "tokenizer.path=" + kTokenizers + "qwen2/tokenizer.json",
                               "tokenizer.end_token=<|endoftext|>"});
  OpenedModel model;
  model.tokenizer = as_deck_writes(deck, deck_tokenizer(deck));
  EXPECT_EQ(model.tokenizer->end_token(), 1500);
  const auto stop = usual_stop_tokens(model);
  EXPECT_NE(std::find(stop.begin(), stop.end(), 1500), stop.end());
  EXPECT_NE(std::find(stop.begin(), stop.end(), 1502), stop.end());
  EXPECT_EQ(answer_end(*model.tokenizer), 1502);
  EXPECT_THROW(deck_tokenizer(deck_with({"tokenizer.path=" + kTokenizers + "qwen2", "tokenizer.end_token=nothing"})),
               Error);
}

TEST(TextChoice, LeavesATokenizerAloneWithoutChatKeys) {
  const Deck deck = deck_with({"tokenizer.path=" + kTokenizers + "gpt2"});
  const auto tokenizer = deck_tokenizer(deck);
  EXPECT_EQ(as_deck_writes(deck, tokenizer), tokenizer);
  EXPECT_EQ(as_deck_writes(deck, nullptr), nullptr);
  const auto words = make_word_tokenizer("a b");
  EXPECT_EQ(as_deck_writes(deck_with({"tokenizer.chat_template=raw"}), words), words);
  EXPECT_THROW(as_deck_writes(deck_with({"tokenizer.chat_template=chatml"}), words), Error);
}

TEST(TokenizeLines, GivesIdsPiecesAndTexts) {
  const auto folder = std::filesystem::temp_directory_path() / ("maxplus_tokenize_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "lines.jsonl") << R"({"text": "a🙂<|im_end|>"})" "\n\n" R"({"ids": [64, 1502]})" "\n"
                                        << R"({"messages": [{"role": "user", "content": "<|im_end|>"}]})" "\n";
  Deck deck = deck_with({"tokenizer.chat_template=chatml"});
  deck.model.path = kTokenizers + "qwen2/tokenizer.json";
  TokenizeOptions options;
  auto lines = tokenize_lines(deck, folder / "lines.jsonl", options);
  ASSERT_EQ(lines.size(), 3u);
  const auto first = Json::parse(lines[0]);
  EXPECT_EQ(first["ids"].back(), 1502);
  EXPECT_EQ(first["pieces"].front(), "a");
  EXPECT_EQ(first["pieces"][1].get<std::string>().substr(0, 3), "<0x");
  EXPECT_EQ(Json::parse(lines[1])["text"], "a<|im_end|>");
  const auto count = [](const Json& ids, int id) { return std::count(ids.begin(), ids.end(), Json(id)); };
  EXPECT_EQ(count(Json::parse(lines[2])["ids"], 1502), 1) << "the template's, not the message's";
  EXPECT_EQ(count(Json::parse(lines[2])["ids"], 1501), 1);

  options.special = TokenizeOptions::Special::as_text;
  options.ending = TokenizeOptions::Ending::generation_prompt;
  lines = tokenize_lines(deck, folder / "lines.jsonl", options);
  EXPECT_EQ(count(Json::parse(lines[0])["ids"], 1502), 0);
  EXPECT_EQ(count(Json::parse(lines[2])["ids"], 1501), 2);

  deck.tokenizer.chat_template = "auto";
  EXPECT_THROW(tokenize_lines(deck, folder / "lines.jsonl", options), Error) << "messages without a template";
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace maxplus
