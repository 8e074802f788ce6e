#include "verify/environment.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "verify/sandbox/broker.hpp"

namespace maxplus {
namespace {

TEST(Environment, ReadsAnswersAndRefusesOthers) {
  const auto read = [](const char* line) { return Environment::read_answer({line, ""}); };
  EXPECT_EQ(read(R"({"text": "12"})").text, "12");
  EXPECT_FALSE(read(R"({"text": ""})").end);
  EXPECT_TRUE(read(R"({"end": true})").end);
  EXPECT_TRUE(read(R"({"end": true, "text": "bye"})").failure.empty());
  for (const char* line :
       {"", "12", "[]", "{}", R"({"text": 12})", R"({"end": false})", R"({"end": 1})", "{\"text\": \"a"})
    EXPECT_FALSE(read(line).failure.empty()) << line;
  EXPECT_EQ(Environment::read_answer({"", "it died"}).failure, "it died");
}

TEST(Environment, HandsACallOverWithThoseBeforeIt) {
  const auto environment = make_environment(
      nlohmann::json::parse(
          R"({"command": ["sh", "-c", "while IFS= read -r line; do printf '%s\\n' \"$line\"; done"]})"),
      "", std::make_shared<const Broker>(), Locate());
  Problem problem;
  problem.id = 7;
  problem.prompt_text = "a";
  problem.extra["hint"] = 5;
  const std::vector<Environment::Turn> turns = {{"1 + 1", "2"}};
  const Json line = Json::parse(environment->ask(problem, {1, 0, 2, 3}, turns, "x").get().line);
  EXPECT_EQ(line, Json::parse(R"({"rollout_id": "000001-00-000002-0003", "turn": 2, "call": "x",
                                  "earlier": [{"call": "1 + 1", "text": "2"}], "id": 7, "prompt": "a", "answer": null,
                                  "hint": 5})"));
}

TEST(Environment, RefusesKeysThatDoNotDo) {
  for (const char* keys : {R"({})", R"({"command": []})", R"({"command": ["no-such-program-anywhere"]})",
                           R"({"command": ["cat"], "call_end": ""})", R"({"command": ["cat"], "max_turns": 0})",
                           R"({"command": ["cat"], "turns": 2})"})
    EXPECT_THROW(make_environment(nlohmann::json::parse(keys), "", nullptr, Locate()), Error) << keys;
  const auto silent = make_environment(nlohmann::json::parse(R"({"command": ["cat"]})"), "", nullptr, Locate());
  EXPECT_FALSE(silent->ask(Problem(), RolloutId(), {}, "x").get().failure.empty());
}

}  // namespace
}  // namespace maxplus
