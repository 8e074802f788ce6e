#include "rl/sample.hpp"

#include <bit>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/random.hpp"

namespace maxplus {
namespace {

template <class Call>
ExitCode code_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.code();
  }
  return ExitCode::ok;
}

Experience strange_experience() {
  Experience e;
  e.problem.id = -17;
  e.problem.prompt = {3, 1, 4};
  e.problem.prompt_text = "a\0b \xff é";
  e.problem.verifier = "number";
  e.problem.answer = Json{{"z", 0.1}, {"a", {1, -2, nullptr}}};
  e.problem.extra["target"] = 24;
  e.rollout.id = {12, 1, 3, 7};
  e.rollout.problem = -17;
  e.rollout.group = (1 << 20) + 3;
  e.rollout.token = {5, 0, 2};
  e.rollout.log_prob = {-0.0f, std::bit_cast<float>(0x7fc12345u), -std::numeric_limits<float>::infinity()};
  e.rollout.version = {0, 1, 1};
  e.rollout.trainable = {1, 0, 1};
  e.rollout.finish = Finish::budget;
  e.assessment.reward = std::numeric_limits<float>::denorm_min();
  e.assessment.part = {0.5f, 1};
  e.assessment.verdict = Verdict::timed_out;
  e.assessment.extracted = "42";
  e.assessment.reference_log_prob = {-1, -2, -3};
  e.assessment.greedy_reward = -0.5f;
  e.advantage = {0.25f, 0, 0.25f};
  e.proximal_log_prob = {-1, 0, -3};
  return e;
}

TEST(RolloutId, ReadsBackItsText) {
  const RolloutId id{12, 0, 3, 7};
  EXPECT_EQ(id.text(), "000012-00-000003-0007");
  EXPECT_EQ(RolloutId::parse(id.text()), id);
  const RolloutId largest{(1u << 22) - 1, 255, (1u << 20) - 1, (1u << 14) - 1};
  EXPECT_EQ(RolloutId::parse(largest.text()), largest);
  EXPECT_EQ(largest.packed(), std::numeric_limits<std::uint64_t>::max());
}

TEST(RolloutId, OrdersItsTextAsItsNumbers) {
  std::vector<RolloutId> ids;
  for (std::uint64_t i = 0; i < 300; ++i) {
    const RandomBlock r = random_block(5, Purpose::test, i, 0);
    ids.push_back({r.word[0] % 1000000, r.word[1] % 100, r.word[2] % 1000000, r.word[3] % 10000});
  }
  for (const RolloutId& a : ids) {
    for (const RolloutId& b : ids) {
      EXPECT_EQ(a < b, a.text() < b.text());
      EXPECT_EQ(a < b, a.packed() < b.packed());
    }
  }
}

TEST(RolloutId, RefusesWhatItWouldNotWrite) {
  for (const char* text : {"", "12-0-3-7", "000012-00-000003", "000012-00-000003-0007 ", "000012-00-000003-00x7",
                           "-00012-00-000003-0007", "000012-00-000003-99999", "000012-00_000003-0007"}) {
    EXPECT_EQ(code_of([&] { RolloutId::parse(text); }), ExitCode::data) << text;
  }
}

TEST(Names, OfVerdictsAndFinishesReadBack) {
  for (int i = 0; i < kVerdicts; ++i) EXPECT_EQ(verdict_of(name_of(static_cast<Verdict>(i))), static_cast<Verdict>(i));
  for (int i = 0; i < 4; ++i) EXPECT_EQ(finish_of(name_of(static_cast<Finish>(i))), static_cast<Finish>(i));
  EXPECT_EQ(code_of([] { verdict_of("right"); }), ExitCode::data);
  EXPECT_EQ(code_of([] { finish_of(""); }), ExitCode::data);
  EXPECT_EQ(code_of([] { finish_of(name_of(Finish::parked)); }), ExitCode::data) << "no record holds one";
  EXPECT_EQ(code_of([] { finish_of(name_of(Finish::surplus)); }), ExitCode::data) << "nor one of these";
}

TEST(Pack, KeepsEveryBit) {
  const std::vector<Experience> before = {strange_experience(), Experience{}, strange_experience()};
  const std::vector<std::byte> bytes = pack(before);
  const std::vector<Experience> after = unpack(bytes.data(), bytes.size());
  ASSERT_EQ(after.size(), before.size());
  EXPECT_EQ(pack(after), bytes);
  const Experience &a = before[0], &b = after[0];
  EXPECT_EQ(a.problem.prompt_text, b.problem.prompt_text);
  EXPECT_EQ(a.problem.answer.dump(), b.problem.answer.dump());
  EXPECT_EQ(a.rollout.id, b.rollout.id);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(std::bit_cast<std::uint32_t>(a.rollout.log_prob[i]), std::bit_cast<std::uint32_t>(b.rollout.log_prob[i]));
  }
  EXPECT_EQ(b.assessment.verdict, Verdict::timed_out);
  EXPECT_EQ(b.rollout.finish, Finish::budget);
  EXPECT_EQ(a.assessment.reward, b.assessment.reward);
  EXPECT_EQ(b.assessment.greedy_reward, -0.5f);
  EXPECT_EQ(after[1].assessment.greedy_reward, std::nullopt);
  EXPECT_EQ(b.proximal_log_prob, a.proximal_log_prob);
}

TEST(Pack, TakesAnEmptyList) {
  const std::vector<std::byte> bytes = pack({});
  EXPECT_TRUE(unpack(bytes.data(), bytes.size()).empty());
}

TEST(Pack, RefusesEveryTruncationAndEveryFlippedBit) {
  const std::vector<std::byte> bytes = pack({strange_experience()});
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(code_of([&] { unpack(bytes.data(), size); }), ExitCode::protocol) << size;
  }
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::vector<std::byte> damaged = bytes;
    damaged[i] ^= std::byte{0x10};
    EXPECT_EQ(code_of([&] { unpack(damaged.data(), damaged.size()); }), ExitCode::protocol) << i;
  }
  std::vector<std::byte> longer = bytes;
  longer.push_back(std::byte{0});
  EXPECT_EQ(code_of([&] { unpack(longer.data(), longer.size()); }), ExitCode::protocol);
}

}  // namespace
}  // namespace maxplus
