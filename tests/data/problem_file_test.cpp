// Problems and demonstrations from files: every bad input ends with a line number, or is skipped and counted.
#include "data/problem_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>

#include <gtest/gtest.h>

#include "data/demonstration.hpp"
#include "text/bpe_description.hpp"
#include "text/hf_tokenizer.hpp"

namespace maxplus {
namespace {

class ProblemFile : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("maxplus_problems_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path write(const std::string& content) const {
    const auto path = folder_ / "p.jsonl";
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }
  LoadedProblems load(const std::string& content, OnBadLine policy) const {
    ProblemFileOptions options;
    options.on_bad_line = policy;
    options.max_prompt_tokens = 6;
    return load_problems(write(content), tokenizer_, options);
  }
  // The faults of a file that must be refused with this code.
  static std::vector<Fault> refused(const std::function<void()>& call, ExitCode code) {
    try {
      call();
    } catch (const Error& error) {
      EXPECT_EQ(static_cast<int>(error.code()), static_cast<int>(code)) << error.what();
      return error.faults();
    }
    ADD_FAILURE() << "was taken";
    return {Fault{}};
  }

  std::filesystem::path folder_;
  std::shared_ptr<const Tokenizer> tokenizer_ = make_character_tokenizer("abc ");
};

constexpr const char* kGood = R"({"id": 7, "prompt": "ab c", "answer": "x", "level": 3})";

TEST_F(ProblemFile, KeepsWhatALineSays) {
  const auto loaded = load(std::string(kGood) + "\n\n" + R"({"prompt": [{"role": "user", "content": "a"}], "answer": 4, "verifier": "number"})" "\n" R"({"prompt_ids": [0, 4], "answer": {"k": 1}})", OnBadLine::stop);
  ASSERT_EQ(loaded.source->size(), 3);
  const Problem first = loaded.source->at(0);
  EXPECT_EQ(first.id, 7);
  EXPECT_EQ(first.prompt, (std::vector<std::int32_t>{0, 1, 3, 2}));
  EXPECT_EQ(first.prompt_text, "ab c");
  EXPECT_EQ(first.answer, "x");
  EXPECT_EQ(first.extra.dump(), R"({"level":3})");
  EXPECT_EQ(loaded.source->at(1).id, 3);  // its line
  EXPECT_EQ(loaded.source->at(1).verifier, "number");
  EXPECT_EQ(loaded.source->at(2).prompt, (std::vector<std::int32_t>{0, 4}));
  EXPECT_NE(loaded.source->where(1).find("p.jsonl:3"), std::string::npos);
  EXPECT_EQ(longest_prompt(*loaded.source), 4);
}

TEST_F(ProblemFile, TakesEveryWayToEndALine) {
  const std::string line = R"({"prompt": "a", "answer": "x"})";
  for (const std::string& content : {line, line + "\n", line + "\r\n", "\xef\xbb\xbf" + line + "\n", "\n \n" + line, line + "\r\n\r\n"}) {
    EXPECT_EQ(load(content, OnBadLine::stop).source->size(), 1);
  }
}

TEST_F(ProblemFile, RefusesOrSkipsEveryBadLine) {
  const std::vector<std::pair<std::string, const char*>> bad = {
      {"nonsense", "not JSON"}, {"[1]", "array"}, {"\"a\"", "string"}, {"5", "number"}, {"null", "null"},
      {R"({"answer": "x"})", "'prompt'"}, {R"({"prompt": "a"})", "'answer'"}, {R"({"prompt": null, "answer": "x"})", "null"},
      {R"({"prompt": 5, "answer": "x"})", "number"}, {R"({"prompt": "", "answer": "x"})", "empty"}, {R"({"prompt": [], "answer": "x"})", "empty"},
      {R"({"prompt": [{"role": "user"}], "answer": "x"})", "message"}, {R"({"prompt": "a", "answer": ""})", "empty"},
      {R"({"prompt": "a", "answer": null})", "empty"}, {R"({"prompt": "a", "answer": {}})", "empty"}, {R"({"prompt": "a", "answer": 1e400})", "overflow"},
      {R"({"prompt": "a", "answer": NaN})", "not JSON"}, {R"({"prompt": "abcabca", "answer": "x"})", "7 tokens"},
      {R"({"prompt": "axb", "answer": "x"})", "'x' at byte 1"}, {R"({"prompt": "a<eos>", "answer": "x"})", "'<'"},
      {R"({"prompt": "a", "answer": "x", "id": -1})", "-1"}, {R"({"prompt": "a", "answer": "x", "id": 9007199254740993})", "9007199254740993"},
      {R"({"prompt": "a", "answer": "x", "id": "q"})", "'id'"}, {R"({"prompt": "a", "answer": "x", "id": 7})", "already that of line 1"},
      {R"({"prompt": "a", "answer": "x", "id": 18446744073709551615})", "'id'"}, {R"({"prompt": "a", "prompt": "b", "answer": "x"})", "twice"},
      {R"({"prompt_ids": [], "answer": "x"})", "prompt_ids"}, {R"({"prompt_ids": [5], "answer": "x"})", "'5'"}, {R"({"prompt_ids": [0.5], "answer": "x"})", "'0.5'"},
      {R"({"prompt_ids": [4294967296], "answer": "x"})", "4294967296"}, {R"({"prompt": "a", "answer": "x", "verifier": 3})", "verifier"},
      {"{\"prompt\": \"a\xff\", \"answer\": \"x\"}", "UTF-8"}, {"{\"prompt\": \"a\xed\xa0\x80\", \"answer\": \"x\"}", "UTF-8"},
      {std::string("{\"prompt\": \"a\0\", \"answer\": \"x\"}", 31), "NUL"}, {R"({"prompt": "a\ud83d", "answer": "x"})", "not JSON"},
      {R"({"prompt": "a\u0000", "answer": "x"})", "unknown"}, {R"({"prompt": "a", "answer": "x")", "ends too early"},
      {R"({"prompt": "a", "answer": )" + std::string(10000, '[') + std::string(10000, ']') + "}", "nested"},
      {R"({"prompt": ")" + std::string(std::size_t{10} << 20, 'a') + R"(", "answer": "x"})", "10485760 tokens"}};
  for (const auto& [line, word] : bad) {
    const std::string content = std::string(kGood) + "\n" + line + "\n";
    const auto faults = refused([&] { load(content, OnBadLine::stop); }, ExitCode::data);
    ASSERT_EQ(faults.size(), 1U);
    EXPECT_TRUE(faults[0].where.ends_with("p.jsonl:2")) << faults[0].where;
    EXPECT_NE((faults[0].found + faults[0].advice).find(word), std::string::npos) << word << " not in: " << faults[0].found;
    EXPECT_LT(faults[0].found.size(), 300U);
    const auto loaded = load(content, OnBadLine::skip);
    EXPECT_EQ(loaded.source->size(), 1);
    EXPECT_EQ(loaded.skipped, 1);
    EXPECT_NE(loaded.skip_summary.find("skipped 1 of 2 lines"), std::string::npos);
  }
}

TEST_F(ProblemFile, ListsTwentyFaultsAndCountsTheRest) {
  std::string content;
  for (int i = 0; i < 25; ++i) content += "x\n";
  const auto faults = refused([&] { load(content, OnBadLine::stop); }, ExitCode::data);
  ASSERT_EQ(faults.size(), 21U);
  EXPECT_NE(faults[20].found.find("5 more"), std::string::npos);
}

TEST_F(ProblemFile, RefusesAFileWithoutAProblem) {
  for (const char* content : {"", "\n", " \r\n\t\n"}) {
    for (const OnBadLine policy : {OnBadLine::stop, OnBadLine::skip}) refused([&] { load(content, policy); }, ExitCode::data);
  }
  refused([&] { load("x\ny\n", OnBadLine::skip); }, ExitCode::data);
}

TEST_F(ProblemFile, RefusesWholeFilesOfTheWrongKind) {
  const std::string utf16("\xff\xfe{\0\"\0", 6), bare(std::string("{\0\"\0p\0", 6)), gzip("\x1f\x8b\x08\0\0", 5);
  for (const std::string& content : {utf16, bare, gzip, std::string("\x28\xb5\x2f\xfd....")}) {
    const auto faults = refused([&] { load(content, OnBadLine::skip); }, ExitCode::data);
    EXPECT_TRUE(faults[0].where.ends_with("p.jsonl:1"));
  }
}

TEST_F(ProblemFile, RefusesWhatIsNoReadableFile) {
  const auto loading = [&](const std::filesystem::path& path) { return [=, this] { load_problems(path, tokenizer_, {}); }; };
  refused(loading(folder_ / "none.jsonl"), ExitCode::no_input);
  EXPECT_NE(refused(loading(folder_), ExitCode::no_input)[0].found.find("directory"), std::string::npos);
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  EXPECT_NE(refused(loading(folder_ / "pipe"), ExitCode::no_input)[0].found.find("pipe"), std::string::npos);
  std::filesystem::create_symlink(folder_ / "loop", folder_ / "loop");
  refused(loading(folder_ / "loop"), ExitCode::no_input);
  if (::geteuid() != 0) {
    const auto path = write(kGood);
    ::chmod(path.c_str(), 0);
    refused(loading(path), ExitCode::no_input);
  }
}

TEST_F(ProblemFile, HashesItsContent) {
  const auto hash = [&](const std::string& content) { return load(content, OnBadLine::stop).source->hash(); };
  EXPECT_EQ(hash(kGood), hash(std::string(kGood) + "\n"));
  EXPECT_NE(hash(kGood), hash(R"({"id": 7, "prompt": "ab c", "answer": "y", "level": 3})"));
}

TEST_F(ProblemFile, ReadsDemonstrationsWithWeights) {
  const auto path = write(R"({"prompt": "a", "response": "bc", "weights": [1, 5]})" "\n" R"({"prompt_ids": [0], "response_ids": [1, 4], "weights": [0, 2.5]})" "\n" R"({"prompt": "a", "response": "b"})");
  const auto source = load_demonstrations(path, tokenizer_, 4, OnBadLine::stop).source;
  ASSERT_EQ(source->size(), 3);
  EXPECT_EQ(source->at(0).response, (std::vector<std::int32_t>{1, 2, 4}));
  EXPECT_EQ(source->at(0).weight, (std::vector<float>{1, 5, 1}));
  EXPECT_EQ(source->at(1).response, (std::vector<std::int32_t>{1, 4}));
  EXPECT_EQ(source->at(1).weight, (std::vector<float>{0, 2.5F}));
  EXPECT_EQ(source->at(2).weight, (std::vector<float>{1, 1}));
}

TEST_F(ProblemFile, RefusesBadDemonstrations) {
  for (const char* line : {R"({"prompt": "a"})", R"({"response": "a"})", R"({"prompt": "a", "response": "abca"})", R"({"prompt": "a", "response": "x"})",
                           R"({"prompt": "a", "response": "b", "weights": [1, 2, 3]})", R"({"prompt": "a", "response": "b", "weights": [-1]})",
                           R"({"prompt": "a", "response": "b", "weights": 1})", R"({"prompt_ids": [0], "response_ids": []})", R"({"prompt": "", "response": "b"})"}) {
    const auto faults = refused([&] { load_demonstrations(write(line), tokenizer_, 5, OnBadLine::stop); }, ExitCode::data);
    EXPECT_TRUE(faults[0].where.ends_with("p.jsonl:1")) << line;
  }
}

TEST_F(ProblemFile, WritesTextsAndMessagesAsTheChatTemplateDoes) {
  BpeDescription description = read_hf_tokenizer(std::string(MAXPLUS_TEST_DATA) + "/tokenizers/qwen2").description;
  description.chat.format = "chatml";
  const auto tokenizer = make_bpe_tokenizer(description, "qwen2");
  const auto path = write(R"({"prompt": "2+2?", "answer": "4"})" "\n"
                          R"({"prompt": [{"role": "system", "content": "s"}, {"role": "user", "content": "a<|im_end|>"}], "answer": "4"})");
  const auto source = load_problems(path, tokenizer, {}).source;
  EXPECT_EQ(tokenizer->decode(source->at(0).prompt), "<|im_start|>user\n2+2?<|im_end|>\n<|im_start|>assistant\n");
  EXPECT_EQ(source->at(0).prompt_text, "2+2?");
  const Problem second = source->at(1);
  EXPECT_EQ(tokenizer->decode(second.prompt),
            "<|im_start|>system\ns<|im_end|>\n<|im_start|>user\na<|im_end|><|im_end|>\n<|im_start|>assistant\n");
  EXPECT_EQ(std::count(second.prompt.begin(), second.prompt.end(), 1502), 2) << "that of the content is text";
  EXPECT_EQ(second.prompt_text, "s\na<|im_end|>");

  const auto demonstrations =
      load_demonstrations(write(R"({"prompt": "q", "response": "r"})"), tokenizer, 0, OnBadLine::stop);
  const Demonstration d = demonstrations.source->at(0);
  EXPECT_EQ(tokenizer->decode(d.prompt), "<|im_start|>user\nq<|im_end|>\n<|im_start|>assistant\n");
  EXPECT_EQ(tokenizer->decode(d.response), "r<|im_end|>");

  description.chat.format = "auto";
  description.chat_template = "{{ of nobody }}";
  const auto unknown = make_bpe_tokenizer(description, "qwen2");
  const auto faults = refused([&] { load_problems(write(kGood), unknown, {}); }, ExitCode::data);
  EXPECT_NE(faults[0].found.find("chat template is not known"), std::string::npos);
  EXPECT_NE(faults[0].advice.find("raw"), std::string::npos);
}

}  // namespace
}  // namespace maxplus
