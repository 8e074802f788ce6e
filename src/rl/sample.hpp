#pragma once
// The data of reinforcement learning: problem, rollout, assessment, experience. Words as in src/README.md.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace maxplus {

using Json = nlohmann::ordered_json;

// Unique in the whole run, whatever the ranks: iteration of admission, attempt (resampling), problem slot, index in the
// group. Draws are functions of it, so the same answers are drawn on any number of ranks.
struct RolloutId {
  std::uint32_t iteration = 0;  // < 2^22
  std::uint32_t attempt = 0;    // < 2^8
  std::uint32_t slot = 0;       // < 2^20
  std::uint32_t index = 0;      // < 2^14

  std::uint64_t packed() const {
    return (static_cast<std::uint64_t>(iteration) << 42) | (static_cast<std::uint64_t>(attempt) << 34) |
           (static_cast<std::uint64_t>(slot) << 14) | index;
  }
  std::string text() const;                       // "000012-00-000003-0007": text order is number order
  static RolloutId parse(std::string_view text);  // throws Error(ExitCode::data)
  friend auto operator<=>(const RolloutId&, const RolloutId&) = default;
};

struct Problem {
  std::int64_t id = 0;
  std::vector<std::int32_t> prompt;  // token ids
  std::string prompt_text;           // as the user wrote it (messages: their contents joined), for records
  std::string verifier;              // empty: the deck's
  Json answer;
  Json extra = Json::object();  // other keys of the problem, handed to the verifier
};

// How many tokens `prompt` has in common with the beginning of `first`, at most `most`, so that it keeps one of its
// own.
std::int64_t common_beginning(const std::vector<std::int32_t>& first, const std::vector<std::int32_t>& prompt,
                              std::int64_t most);

// Stored, never inferred from token ids. Of these no record holds the last two: `parked`, it goes on in a later
// iteration; `surplus`, it was stopped as more than were wanted.
enum class Finish : std::uint8_t { stopped, length, budget, aborted, parked, surplus };
std::string_view name_of(Finish finish);
Finish finish_of(std::string_view name);  // of a record; throws Error(ExitCode::data)

struct Rollout {
  RolloutId id;
  std::int64_t problem = 0;             // Problem::id
  std::int64_t group = 0;               // age, attempt and slot as one number; carried, never inferred
  std::vector<std::int32_t> token;      // the response, the stop token included
  std::vector<float> log_prob;          // a token, of the distribution it was drawn from
  std::vector<std::int32_t> version;    // policy version a token was drawn with
  std::vector<std::uint8_t> trainable;  // 0: a foreign token (a tool's text)
  Finish finish = Finish::stopped;
  std::string fault = {};  // ours, met while it was drawn: it is `crashed`. Stays on the rank that drew it
};

// Our own faults never look like a wrong answer: gold_unusable and crashed leave the group's statistics.
enum class Verdict : std::uint8_t { correct, wrong, no_answer, gold_unusable, timed_out, crashed };
inline constexpr int kVerdicts = 6;
std::string_view name_of(Verdict verdict);
Verdict verdict_of(std::string_view name);  // throws Error(ExitCode::data)
constexpr bool counts(Verdict verdict) { return verdict != Verdict::gold_unusable && verdict != Verdict::crashed; }

struct Assessment {
  float reward = 0;
  std::vector<float> part;  // weighted parts of the reward, before their weights
  Verdict verdict = Verdict::wrong;
  std::string extracted;                  // what the verifier took as the answer
  std::vector<float> reference_log_prob;  // a response token; empty without a reference
  std::vector<float> value;               // a response token; empty without a critic
  std::optional<float> greedy_reward;     // of the greedy answer to the same problem, where an algorithm asks for it
};

struct Experience {
  Problem problem;
  Rollout rollout;
  Assessment assessment;
  std::vector<float> advantage;               // a response token; 0 at tokens that are not trainable
  std::vector<float> value_target = {};       // likewise; what the critic is to learn
  std::vector<float> proximal_log_prob = {};  // a response token, of the policy at the start of the iteration
};

// Bytes of a list of experiences, for exchange between ranks and for files; exact in every bit.
std::vector<std::byte> pack(const std::vector<Experience>& experiences);
std::vector<Experience> unpack(const std::byte* data, std::size_t bytes);  // throws Error(ExitCode::protocol) on damage

}  // namespace maxplus
