#include "roles/turns.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "text/tokenizer.hpp"
#include "verify/sandbox/broker.hpp"

namespace maxplus {
namespace {

constexpr const char* kEcho = R"sh(while IFS= read -r line; do printf '{"text": "b a"}\n'; done)sh";

class TurnsTest : public testing::Test {
 protected:
  TurnsTest()
      : tokenizer_(make_word_tokenizer("a b ( ) ?")),
        environment_(make_environment({{"command", {"sh", "-c", kEcho}},
                                       {"call_begin", "("},
                                       {"call_end", ")"},
                                       {"max_turns", 2},
                                       {"max_answer_tokens", 1}},
                                      "", std::make_shared<const Broker>(), Locate())),
        turns_(*environment_, *tokenizer_, 1) {}

  // What is found after each word in turn.
  std::vector<Turns::Found> draw(const std::string& words) {
    std::vector<Turns::Found> found;
    for (const std::int32_t token : tokenizer_->encode(words, SpecialText::as_text)) {
      rollout_.token.push_back(token);
      found.push_back(turns_.look(0, Problem(), rollout_));
    }
    return found;
  }
  Turns::Continuation take() {
    std::optional<Turns::Continuation> more;
    while (!(more = turns_.take(0, rollout_))) turns_.wait(0, std::chrono::milliseconds(20));
    rollout_.token.insert(rollout_.token.end(), more->token.begin(), more->token.end());
    return *more;
  }

  std::shared_ptr<const Tokenizer> tokenizer_;
  std::shared_ptr<const Environment> environment_;
  Turns turns_;
  Rollout rollout_;
};

constexpr auto kNothing = Turns::Found::nothing, kCall = Turns::Found::call, kOneTooMany = Turns::Found::one_too_many;

TEST_F(TurnsTest, FindsCallsUntilTheirNumberIsUp) {
  EXPECT_EQ(draw("a ( b )"), (std::vector{kNothing, kNothing, kNothing, kCall}));
  EXPECT_EQ(take().token, tokenizer_->encode("b", SpecialText::as_text)) << "one token of the answer is allowed";
  EXPECT_EQ(draw(") a ( )"), (std::vector{kNothing, kNothing, kNothing, kCall}));
  EXPECT_FALSE(take().ends);
  EXPECT_EQ(draw("( a )"), (std::vector{kNothing, kNothing, kOneTooMany}));
}

TEST_F(TurnsTest, FindsNoCallInWhatWasAnswered) {
  draw("(");
  rollout_.token.push_back(rollout_.token.back());
  EXPECT_EQ(draw("a )").back(), kCall);
  take();
  EXPECT_EQ(turns_.look(0, Problem(), rollout_), kNothing);
  EXPECT_EQ(draw("a b ?").back(), kNothing);
}

}  // namespace
}  // namespace maxplus
