#include "run/rollout_records.hpp"

#include <bit>
#include <cmath>
#include <fstream>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/random.hpp"
#include "run/json_lines.hpp"

namespace maxplus {
namespace {

Experience experience(std::uint64_t seed) {
  Experience e;
  const auto draw = [&](std::uint64_t i) { return static_cast<float>(-7 * uniform_double(seed, Purpose::test, i, 1)); };
  e.problem.id = e.rollout.problem = 17;
  e.problem.prompt = {4, 2};
  e.problem.prompt_text = "what is 4 \"2\"?\n";
  e.rollout.id = {12, 1, 3, static_cast<std::uint32_t>(seed)};
  e.rollout.group = (1LL << 32) | 3;
  e.rollout.token = {9, 8, 7, 1};
  e.rollout.trainable = {1, 0, 1, 1};
  e.rollout.version = {3, 3, 4, 4};
  e.rollout.finish = Finish::budget;
  for (std::uint64_t t = 0; t < 4; ++t) {
    e.rollout.log_prob.push_back(draw(t));
    e.assessment.reference_log_prob.push_back(draw(t + 10));
  }
  e.rollout.log_prob[1] = std::nanf("");
  e.assessment.reward = 0.1f;
  e.assessment.part = {0.1f, -0.3f};
  if (seed % 2 == 0) e.assessment.greedy_reward = draw(20);
  e.assessment.verdict = Verdict::timed_out;
  e.assessment.extracted = "42";
  e.advantage = {0.7f, 0, 0.7f, 0.7f};
  return e;
}

std::filesystem::path put_records(const std::string& text) {
  const auto path = std::filesystem::path(::testing::TempDir()) / "maxplus_records.jsonl";
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

TEST(RolloutRecord, ReadsBackBitForBit) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Experience e = experience(seed);
    const std::string line = json_line(rollout_record(12, e, "9 8 7"));
    const RecordedRollout back = parse_rollout_record(line, "x:1", 1, {});
    EXPECT_EQ(back.iteration, 12);
    EXPECT_EQ(back.response, "9 8 7");
    EXPECT_EQ(back.experience.rollout.id, e.rollout.id);
    for (std::size_t t = 0; t < 4; ++t) {
      if (t == 1) {
        EXPECT_TRUE(std::isnan(back.experience.rollout.log_prob[t]));
      } else {
        EXPECT_EQ(std::bit_cast<std::uint32_t>(back.experience.rollout.log_prob[t]), std::bit_cast<std::uint32_t>(e.rollout.log_prob[t]));
      }
    }
    // All else through the packed form, which holds every field; NaN is made equal first.
    Experience a = e, b = back.experience;
    a.rollout.log_prob[1] = b.rollout.log_prob[1] = 0;
    EXPECT_EQ(pack({a}), pack({b}));
  }
}

TEST(RolloutRecord, WritesAdvantagesThatDifferAsAList) {
  Experience e = experience(1);
  EXPECT_EQ(rollout_record(1, e, "")["advantage"], Json(0.7));
  e.advantage[3] = 0.5f;
  const RecordedRollout back = parse_rollout_record(json_line(rollout_record(1, e, "")), "x:1", 1, {});
  EXPECT_EQ(back.experience.advantage, e.advantage);
}

TEST(RolloutRecord, NeedsOnlyFourKeys) {
  const RecordedRollout r = parse_rollout_record(R"({"group": 3, "prompt_ids": [1], "response_ids": [2, 3], "reward": -1})", "x:7", 7, {});
  EXPECT_EQ(r.experience.rollout.trainable, (std::vector<std::uint8_t>{1, 1}));
  EXPECT_TRUE(r.experience.rollout.log_prob.empty());
  EXPECT_EQ(r.experience.assessment.reward, -1.0f);
  EXPECT_TRUE(counts(r.experience.assessment.verdict));
}

TEST(RolloutRecord, RefusesWhatIsWrongWithItsPlace) {
  const char* lines[] = {
      R"({"prompt_ids": [1], "response_ids": [2], "reward": 1})",
      R"({"group": 1, "response_ids": [2], "reward": 1})",
      R"({"group": 1, "prompt_ids": [1], "reward": 1})",
      R"({"group": 1, "prompt_ids": [1], "response_ids": [2]})",
      R"({"group": 1, "prompt_ids": [], "response_ids": [2], "reward": 1})",
      R"({"group": 1, "prompt_ids": [1], "response_ids": [2], "reward": null})",
      R"({"group": 1, "prompt_ids": [1], "response_ids": [2], "reward": "1"})",
      R"({"group": 1.5, "prompt_ids": [1], "response_ids": [2], "reward": 1})",
      R"({"group": 1, "prompt_ids": [1], "response_ids": [50], "reward": 1})",
      R"({"group": 1, "prompt_ids": [1], "response_ids": [-2], "reward": 1})",
      R"({"group": 1, "prompt_ids": [1], "response_ids": [2], "reward": 1, "trainable": [2]})",
      R"({"group": 1, "prompt_ids": [1], "response_ids": [2], "reward": 1, "log_prob": [null]})",
      R"({"group": 1, "prompt_ids": [1], "response_ids": [2], "reward": 1, "log_prob": [-1, -1]})",
      R"({"group": 1, "prompt_ids": [1], "response_ids": [2], "reward": 1, "verdict": "right"})",
      R"({"group": 1, "prompt_ids": [1], "response_ids": [2], "reward": 1, "finish": "end"})",
      R"({"group": 1, "prompt_ids": [1], "response_ids": [2], "reward": 1, "rollout_id": "7"})",
      R"({"group": 1, "prompt_ids": [1,1,1,1,1], "response_ids": [2,2,2,2], "reward": 1})",
      R"({"group": 1, "prompt_ids": [1)",
      R"([1])"};
  for (const char* line : lines) {
    try {
      parse_rollout_record(line, "file.jsonl:3", 3, {50, 8});
      ADD_FAILURE() << "accepted " << line;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::data) << line;
      EXPECT_EQ(error.faults().front().where.rfind("file.jsonl:3", 0), 0u) << error.what();
    }
  }
}

TEST(RolloutRecords, ReportAllFaultsOfAFileAtOnce) {
  const std::string good = R"({"group": 1, "prompt_ids": [1], "response_ids": [2], "reward": 1, "rollout_id": "000001-00-000000-0001"})";
  const auto path = put_records(good + "\n\n{\"group\": 1}\n" + good + "\n");
  try {
    read_rollout_records(path, {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::data);
    ASSERT_EQ(error.faults().size(), 2u);
    EXPECT_EQ(error.faults()[0].where, path.string() + ":3");
    EXPECT_EQ(error.faults()[1].where, path.string() + ":4");
  }
  EXPECT_EQ(read_rollout_records(put_records(good + "\n"), {}).size(), 1u);
  try {
    read_rollout_records("/nowhere/at/all.jsonl", {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::no_input);
  }
}

}  // namespace
}  // namespace maxplus
