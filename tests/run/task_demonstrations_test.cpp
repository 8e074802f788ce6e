// What the tasks demonstrate, judged by their own verifiers.
#include <map>
#include <span>

#include <gtest/gtest.h>

#include "data/task.hpp"
#include "text/tokenizer.hpp"
#include "verify/verifier.hpp"

namespace maxplus {
namespace {

// The share of right answers among demonstrations, each judged by the task's verifier on the problem it answers.
double share_right(const char* name, nlohmann::json keys) {
  keys["problems"] = 40;
  const auto task = make_task(name, keys, nullptr, Locate());
  std::map<std::vector<std::int32_t>, Problem> problems;
  for (std::int64_t i = 0; i < 40; ++i) problems[task->train()->at(i).prompt] = task->train()->at(i);
  const auto verifier = make_verifier(task->verifier(), {}, VerifierSettings(), "[reward]", Locate());
  int count = 0;
  for (std::int64_t n = 0; n < 400; ++n) {
    const Demonstration d = task->demonstrations()->at(n);
    EXPECT_TRUE(problems.contains(d.prompt)) << "of training problems only";
    EXPECT_EQ(d.response.back(), task->tokenizer()->end_token());
    EXPECT_EQ(d.weight.size(), d.response.size());
    const std::string response = task->tokenizer()->decode(std::span(d.response).first(d.response.size() - 1));
    const Assessment a = verifier->assess(problems[d.prompt], Rollout(), response);
    EXPECT_TRUE(a.verdict == Verdict::correct || a.verdict == Verdict::wrong) << response;
    count += a.verdict == Verdict::correct ? 1 : 0;
  }
  return count / 400.0;
}

TEST(TaskDemonstrations, AreRightUnlessAStepSlips) {
  for (const char* name : {"arithmetic", "sorting", "letter_counting", "graph_paths"}) {
    EXPECT_EQ(share_right(name, {{"slip", 0}}), 1.0) << name;
    const double slipping = share_right(name, {{"slip", 0.1}});
    EXPECT_LT(slipping, 0.99) << name;
    EXPECT_GT(slipping, 0.4) << name;
    EXPECT_LT(share_right(name, {{"slip", 1}}), slipping) << name;
  }
  EXPECT_EQ(share_right("graph_paths", {{"slip", 0}, {"ask", "shortest"}, {"extra_edges", 6}}), 1.0)
      << "a search breadth first finds the shortest";
}

}  // namespace
}  // namespace maxplus
