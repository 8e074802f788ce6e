// Files of pairs and marked answers.
#include "data/answer_file.hpp"

#include <fstream>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "data/problem_file.hpp"
#include "io/temporary_folder.hpp"

namespace maxplus {
namespace {

struct Fixture {
  TemporaryFolder folder;
  std::shared_ptr<const Tokenizer> tokenizer = make_word_tokenizer("a b c d e");

  LoadedProblems load(const std::filesystem::path& path, const AnswerFileOptions& rules, OnBadLine on_bad_line) const {
    ProblemFileOptions options;
    options.answer = ProblemFileOptions::Answer::optional;
    options.on_bad_line = on_bad_line;
    options.check = [this, rules](const Problem& problem) { check_answers(problem, tokenizer.get(), rules); };
    return load_problems(path, tokenizer, options);
  }
  AnswerSource read(const std::string& text, AnswerFileOptions options = {}) const {
    const auto path = std::filesystem::path(folder.path()) / "answers.jsonl";
    std::ofstream(path) << text;
    return {load(path, options, OnBadLine::stop).source, tokenizer.get(), options};
  }
  std::vector<Fault> faults(const std::string& text, const AnswerFileOptions& options = {}) const {
    try {
      read(text, options);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::data);
      return error.faults();
    }
    return {};
  }
};

using Tokens = std::vector<std::int32_t>;
constexpr std::int32_t kEnd = 5;

TEST(AnswerFile, ReadsPairsAsTextTurnsAndIds) {
  const Fixture f;
  const AnswerSource source = f.read(R"({"prompt": "a b", "chosen": "c", "rejected": "d e"}
{"prompt": "a", "chosen": [{"role": "assistant", "content": "b"}], "rejected_ids": [3, 3, 5]}
)");
  ASSERT_EQ(source.size(), 2);
  const std::vector<Experience> pair = source.at(0), mixed = source.at(1);
  ASSERT_EQ(pair.size(), 2u);
  EXPECT_EQ(pair[0].rollout.token, (Tokens{2, kEnd}));
  EXPECT_EQ(pair[1].rollout.token, (Tokens{3, 4, kEnd}));
  EXPECT_GT(pair[0].assessment.reward, pair[1].assessment.reward);
  EXPECT_EQ(pair[0].rollout.trainable, (std::vector<std::uint8_t>{1, 1}));
  EXPECT_EQ(mixed[0].rollout.token, (Tokens{1, kEnd}));
  EXPECT_EQ(mixed[1].rollout.token, (Tokens{3, 3, kEnd}));
  EXPECT_EQ(source.longest(), 2 + 2 + 3);
}

TEST(AnswerFile, ReadsMarkedAnswersWhereTheyAreOfUse) {
  const Fixture f;
  AnswerFileOptions marked;
  marked.pairs_only = false;
  const std::string text = R"({"prompt": "a", "response": "b", "label": false}
{"prompt": "a", "chosen": "c", "rejected": "d"}
)";
  const AnswerSource source = f.read(text, marked);
  ASSERT_EQ(source.at(0).size(), 1u);
  EXPECT_EQ(source.at(0)[0].assessment.reward, 0.0f);
  EXPECT_EQ(source.at(1).size(), 2u);
  EXPECT_EQ(f.faults(text).size(), 1u);
}

TEST(AnswerFile, TellsAllBadLines) {
  const Fixture f;
  AnswerFileOptions options;
  options.context = 4;
  const std::vector<Fault> faults = f.faults(R"({"prompt": "a", "chosen": "b"}
{"prompt": "a", "chosen": "b", "rejected": 3}
{"prompt": "a", "chosen": "nowhere", "rejected": "b"}
{"prompt": "a", "chosen": "b", "rejected_ids": [99]}
{"prompt": "a b c", "chosen": "b c", "rejected": "b"}
{"prompt": "a", "chosen": "b", "rejected": "c"}
)",
                                             options);
  ASSERT_EQ(faults.size(), 5u);
  for (std::size_t i = 0; i < faults.size(); ++i) {
    EXPECT_NE(faults[i].where.find("answers.jsonl:" + std::to_string(i + 1)), std::string::npos) << faults[i].where;
    EXPECT_FALSE(faults[i].expected.empty());
  }
}

TEST(AnswerFile, LeavesBadLinesOut) {
  const Fixture f;
  const auto path = std::filesystem::path(f.folder.path()) / "some.jsonl";
  std::ofstream(path) << R"({"prompt": "a", "chosen": "b"}
{"prompt": "a", "chosen": "b", "rejected": "c"}
)";
  const LoadedProblems loaded = f.load(path, {}, OnBadLine::skip);
  EXPECT_EQ(loaded.source->size(), 1);
  EXPECT_EQ(loaded.skipped, 1);
  EXPECT_NE(loaded.skip_summary.find("some.jsonl:1"), std::string::npos) << loaded.skip_summary;
}

}  // namespace
}  // namespace maxplus
