#include "run/judged_programs.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace maxplus {
namespace {

class JudgedPrograms : public testing::Test {
 protected:
  JudgedPrograms() : folder_(testing::TempDir() + "maxplus-judged-" + std::to_string(::getpid())) {
    std::filesystem::create_directory(folder_);
  }
  ~JudgedPrograms() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& name, const std::string& text) const {
    const std::string path = folder_ + "/" + name;
    std::ofstream(path) << text;
    return path;
  }
  static bool has_broker(const std::string& deck, const std::vector<std::string>& set, Command command) {
    CommandLine line;
    line.command = command;
    line.deck = deck;
    line.set = set;
    return broker_for(line) != nullptr;
  }
  bool has_broker(const std::string& text) const { return has_broker(file("deck.toml", text), {}, Command::train); }

  std::string folder_;
};

TEST_F(JudgedPrograms, HaveABrokerOnlyWhereOneIsNeeded) {
  EXPECT_FALSE(has_broker("[reward]\nverifier = \"math\"\n"));
  EXPECT_TRUE(has_broker("[reward]\nverifier = \"code_tests\"\n"));
  EXPECT_TRUE(has_broker("[reward]\nverifier = \"command\"\ncommand = [\"cat\"]\n"));
  EXPECT_TRUE(has_broker("[[reward.part]]\nverifier = \"format\"\n[[reward.part]]\nverifier = \"code_tests\"\n"));
  EXPECT_TRUE(has_broker("[eval]\nverifier = \"code_tests\"\n"));
  const std::string deck = file("plain.toml", "[reward]\nverifier = \"math\"\n");
  EXPECT_TRUE(has_broker(deck, {"reward.verifier=code_tests"}, Command::eval));
  EXPECT_FALSE(has_broker(deck, {"reward.verifier=code_tests"}, Command::generate));
  EXPECT_FALSE(has_broker(folder_ + "/none.toml", {}, Command::train));
  EXPECT_FALSE(has_broker("[reward\n"));
}

TEST_F(JudgedPrograms, AreFoundInTheProblems) {
  constexpr std::size_t kAcrossBlocks = (std::size_t{1} << 20) - 20;
  const std::string deck = file("deck.toml", "[data]\ntrain = \"problems.jsonl\"\n");
  file("problems.jsonl", R"({"prompt": "a", "answer": 1, "verifier": "math"})");
  EXPECT_FALSE(has_broker(deck, {}, Command::train));
  file("problems.jsonl", std::string(kAcrossBlocks, ' ') + R"({"verifier": "code_tests", "prompt": "a"})");
  EXPECT_TRUE(has_broker(deck, {}, Command::train));
}

TEST_F(JudgedPrograms, DoNotReadWhatCanBeReadOnlyOnce) {
  ASSERT_EQ(::mkfifo((folder_ + "/problems.jsonl").c_str(), 0600), 0);  // nobody writes there: a reader would hang
  EXPECT_FALSE(has_broker(file("deck.toml", "[data]\ntrain = \"problems.jsonl\"\n"), {}, Command::train));
  ASSERT_EQ(::mkfifo((folder_ + "/pipe.toml").c_str(), 0600), 0);
  EXPECT_TRUE(has_broker(folder_ + "/pipe.toml", {}, Command::train));
}

}  // namespace
}  // namespace maxplus
