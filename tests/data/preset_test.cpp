// Lines of other trainers' and collections' files, as problems.
#include "data/preset.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "data/problem_file.hpp"
#include "deck/deck.hpp"

namespace maxplus {
namespace {

class Presets : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("maxplus_presets_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  static ProblemFileOptions options_of(const char* preset) {
    ProblemFileOptions options;
    options.preset = find_preset(preset);
    EXPECT_NE(options.preset, nullptr) << preset;
    if (options.preset != nullptr) options.fields = options.preset->fields;
    options.ids = ProblemFileOptions::Ids::lenient;
    options.answer = ProblemFileOptions::Answer::optional;
    return options;
  }
  LoadedProblems load(const std::string& content, const ProblemFileOptions& options) const {
    std::ofstream(folder_ / "p.jsonl", std::ios::binary) << content;
    std::string printable;
    for (char c = ' '; c <= '~'; ++c) printable += c;
    return load_problems(folder_ / "p.jsonl", make_character_tokenizer(printable + "\n"), options);
  }
  Problem first(const std::string& line, const char* preset) const {
    return load(line, options_of(preset)).source->at(0);
  }

  std::filesystem::path folder_;
};

TEST_F(Presets, ReadVerl) {
  const Problem p = first(
      R"({"data_source": "openai/gsm8k", "prompt": [{"role": "user", "content": "1+1?"}], "ability": "math",)"
      R"( "reward_model": {"style": "rule", "ground_truth": "2"}, "extra_info": {"split": "train", "index": 41, "answer": "it is #### 2"}})",
      "verl");
  EXPECT_EQ(p.id, 41);
  EXPECT_EQ(p.prompt_text, "1+1?");
  EXPECT_EQ(p.answer, "2");
  EXPECT_EQ(p.extra["data_source"], "openai/gsm8k");
  EXPECT_EQ(p.extra["extra_info"]["split"], "train");
  EXPECT_FALSE(p.extra.contains("prompt"));
  const Problem countdown =
      first(R"({"prompt": "p", "reward_model": {"ground_truth": {"numbers": [3, 4], "target": 12}}})", "verl");
  EXPECT_EQ(countdown.answer["target"], 12);
  EXPECT_EQ(countdown.id, 1) << "its line";
}

TEST_F(Presets, ReadTrl) {
  EXPECT_EQ(first(R"({"prompt": "q", "solution": "$\\frac12$", "answer": "other"})", "trl").answer, "$\\frac12$");
  EXPECT_EQ(first(R"({"prompt": "q", "solution": null, "answer": "a"})", "trl").answer, "a");
  const Problem marked = first(
      R"({"prompt": [{"role": "user", "content": "q"}], "completion": [{"role": "assistant", "content": "r"}], "label": true})",
      "trl");
  EXPECT_EQ(marked.extra["response"][0]["content"], "r");
  EXPECT_EQ(marked.extra["label"], true);
  const Problem pair = first(R"({"prompt": "q", "chosen": "c", "rejected": "r"})", "trl");
  EXPECT_EQ(pair.extra["chosen"], "c");
}

TEST_F(Presets, ReadOpenRlhf) {
  const Problem p = first(R"({"input": "q", "label": "5", "prompt": "not this"})", "openrlhf");
  EXPECT_EQ(p.prompt_text, "q");
  EXPECT_EQ(p.answer, "5");
  const Problem messages =
      first(R"({"context_messages": [{"role": "user", "content": "c"}], "answer": 7})", "openrlhf");
  EXPECT_EQ(messages.prompt_text, "c");
  EXPECT_EQ(messages.answer, 7);
}

TEST_F(Presets, ReadGsm8k) {
  const auto answer = [this](const std::string& text) {
    return first(R"({"question": "How many?", "answer": ")" + text + R"("})", "gsm8k").answer;
  };
  EXPECT_EQ(answer("He has 48/2 = <<48/2=24>>24 clips.\\n#### 42"), "42");
  EXPECT_EQ(answer("so\\n#### 1,234 "), "1234");
  EXPECT_EQ(answer("first #### 1\\n#### -7"), "-7");
  EXPECT_EQ(answer("42"), "42") << "taken out already";
  EXPECT_EQ(find_preset("gsm8k")->verifier, "number");
}

TEST_F(Presets, ReadCountdownAndWriteItsPrompt) {
  const Problem p = first(R"({"target": 98, "nums": [44, 19, 35]})", "countdown");
  EXPECT_EQ(p.answer.dump(), R"({"numbers":[44,19,35],"target":98})");
  for (const char* part : {"44, 19, 35", "equals 98", "<answer>"})
    EXPECT_NE(p.prompt_text.find(part), std::string::npos) << part;
  EXPECT_EQ(first(R"({"target": 98, "nums": [44], "prompt": "mine"})", "countdown").prompt_text, "mine");
  EXPECT_EQ(find_preset("countdown")->verifier, "countdown");
}

TEST_F(Presets, ReadReasoningGym) {
  const Problem p = first(
      R"({"question": "Sort", "answer": "a, b", "metadata": {"source_dataset": "word_sorting", "source_index": 3, "difficulty": {"n": [1, 2]}}})",
      "reasoning_gym");
  EXPECT_EQ(p.id, 3);
  EXPECT_EQ(p.prompt_text, "Sort");
  EXPECT_EQ(p.answer, "a, b");
  EXPECT_EQ(p.extra["metadata"]["source_dataset"], "word_sorting");
}

TEST_F(Presets, TakeLineNumbersWhereIdsAreNone) {
  const auto line = [](const std::string& id) {
    return R"({"prompt": "p", "reward_model": {"ground_truth": "1"}, "extra_info": {"index": )" + id + "}}\n";
  };
  const auto ids = [&](const std::string& content) {
    const LoadedProblems loaded = load(content, options_of("verl"));
    std::vector<std::int64_t> found;
    for (std::int64_t i = 0; i < loaded.source->size(); ++i) found.push_back(loaded.source->at(i).id);
    return std::pair(found, loaded.id_note);
  };
  EXPECT_EQ(ids(line("5") + line("9")), std::pair(std::vector<std::int64_t>({5, 9}), std::string()));
  const auto [again, note] = ids(line("5") + "\n" + line("9") + line("5"));
  EXPECT_EQ(again, std::vector<std::int64_t>({1, 3, 4}));
  EXPECT_NE(note.find("p.jsonl:4"), std::string::npos) << note;
  EXPECT_EQ(ids(line("5") + line("\"9a9b6eb4\"")).first, std::vector<std::int64_t>({1, 2}));
  EXPECT_EQ(ids(R"({"prompt": "p", "reward_model": {"ground_truth": "1"}})").second, "")
      << "none has one: nothing to tell";
}

TEST_F(Presets, LetAGivenKeyCountInstead) {
  ProblemFileOptions options = options_of("verl");
  options.fields.answer = {"extra_info.answer"};
  const auto source =
      load(R"({"prompt": "p", "reward_model": {"ground_truth": "1"}, "extra_info": {"answer": "2"}})", options).source;
  EXPECT_EQ(source->at(0).answer, "2");
  options.fields.answer = {"a.b"};
  EXPECT_EQ(load(R"({"prompt": "p", "a.b": "whole", "a": {"b": "way"}})", options).source->at(0).answer, "whole");
  options.fields.difficulty = {"extra_info.level"};
  EXPECT_EQ(load(R"({"prompt": "p", "extra_info": {"level": 2.5}})", options).source->at(0).extra["difficulty"], 2.5);
}

TEST_F(Presets, NameEveryFieldThatIsMissing) {
  try {
    load(R"({"text": "q"})", options_of("openrlhf"));
    FAIL() << "was taken";
  } catch (const Error& error) {
    EXPECT_NE(error.faults()[0].found.find("'input' or 'context_messages'"), std::string::npos)
        << error.faults()[0].found;
    EXPECT_NE(error.faults()[0].where.find("p.jsonl:1"), std::string::npos);
  }
}

TEST(PresetNames, AreThoseThatADeckMayWrite) {
  for (const Preset& preset : presets()) {
    const DeckReading reading =
        deck_of_text("[data]\npreset = \"" + std::string(preset.name) + "\"\n", "deck.toml", {});
    EXPECT_TRUE(reading.faults.empty()) << preset.name;
  }
  const DeckReading reading = deck_of_text("[data]\npreset = \"gsm8\"\n", "deck.toml", {});
  ASSERT_EQ(reading.faults.size(), 1u);
  EXPECT_NE(reading.faults[0].found.find("gsm8k"), std::string::npos) << reading.faults[0].found;
  for (const Preset& preset : presets()) EXPECT_NE(reading.faults[0].expected.find(preset.name), std::string::npos);
  EXPECT_EQ(presets().size(), 6u);
}

}  // namespace
}  // namespace maxplus
