// Finding rollouts in a long file.
#include "run/report/examples.hpp"

#include <set>

#include "run/report_runs.hpp"

namespace maxplus {
namespace {

namespace fs = std::filesystem;

TEST(ChooseExamples, AreBestWorstAndOthersWithoutRepetition) {
  const std::vector<Choice> chosen = choose_examples({0, 0, 0, 0, 2, 0, 0, -1, 0});
  ASSERT_EQ(chosen.size(), 4u);
  EXPECT_EQ(chosen[0].index, 4u);
  EXPECT_EQ(chosen[1].index, 7u);
  EXPECT_EQ((std::set<std::size_t>{chosen[0].index, chosen[1].index, chosen[2].index, chosen[3].index}).size(), 4u);
  EXPECT_EQ(choose_examples({5}).size(), 1u);
  EXPECT_TRUE(choose_examples({}).empty());
}

fs::path written(const std::string& text) {
  const fs::path path = report_runs::empty_folder("examples") / "rollouts.jsonl";
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

std::vector<std::int64_t> iterations_in(const std::vector<IterationExamples>& found) {
  std::vector<std::int64_t> iterations;
  for (const IterationExamples& one : found) iterations.push_back(one.iteration);
  return iterations;
}

// Lines of very different lengths, so that halving lands in all places of them.
TEST(ReadExamples, FindEveryIterationWholeAmongLongAndShortLines) {
  std::string text;
  for (int k = 1; k <= 40; ++k) {
    for (int i = 0; i < k % 3 + 1; ++i)
      text += report_runs::rollout(k, i, i, std::string(static_cast<std::size_t>(k * 37 % 11 * 50), 'x')).dump() + "\n";
  }
  const auto found = read_examples(written(text), 40);
  ASSERT_EQ(found.size(), 40u);
  for (int k = 1; k <= 40; ++k) {
    EXPECT_EQ(found[static_cast<std::size_t>(k - 1)].iteration, k);
    EXPECT_EQ(found[static_cast<std::size_t>(k - 1)].rollouts, k % 3 + 1);
    for (const Example& example : found[static_cast<std::size_t>(k - 1)].examples) EXPECT_EQ(example.record["iteration"], k);
    EXPECT_EQ(found[static_cast<std::size_t>(k - 1)].examples[0].record["reward"], k % 3);
  }
  EXPECT_EQ(iterations_in(read_examples(written(text), 4)), (std::vector<std::int64_t>{1, 14, 27, 40}));
}

TEST(ReadExamples, TakeWhatThereIsOfEveryTenth) {
  std::string text;
  for (int k = 10; k <= 100; k += 10) text += report_runs::rollout(k, 0, 0, "").dump() + "\n";
  EXPECT_EQ(iterations_in(read_examples(written(text), 3)), (std::vector<std::int64_t>{10, 60, 100}));
  EXPECT_EQ(read_examples(written(text), 50).size(), 10u);
}

TEST(ReadExamples, PassOverTornAndForeignLines) {
  const std::string good = report_runs::rollout(3, 0, 1, ",\"reward\":9 quoted").dump();
  const auto found = read_examples(written("\n[]\nnoise\n" + good + "\n{\"reward\": 2, \"iteration\": 3}\n{\"iteration\":4,\"rollout_id\":\"0"), 12);
  ASSERT_EQ(iterations_in(found), (std::vector<std::int64_t>{3}));
  EXPECT_EQ(found[0].rollouts, 2);
  EXPECT_EQ(found[0].examples[0].record["reward"], 2);
  EXPECT_EQ(found[0].examples[1].record["reward"], 1);
  EXPECT_TRUE(read_examples(written(""), 12).empty());
  EXPECT_TRUE(read_examples(written("\n\n"), 12).empty());
  EXPECT_TRUE(read_examples(fs::path(::testing::TempDir()) / "maxplus_no_such_file", 12).empty());
}

}  // namespace
}  // namespace maxplus
