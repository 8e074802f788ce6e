#pragma once
// The reward of a deck: one verifier, or several parts with weights.
//
// reward = sum of weight * part. The verdict is that of the first part which judges (not format, length, random), or of
// the first part where none judges. A part that crashed makes the whole `crashed`, for the sum is not known; a judging
// part with an unusable gold answer makes it `gold_unusable`. A problem that names its own verifier is judged by that
// one in place of the judging part.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "deck/tables.hpp"
#include "verify/verifier.hpp"

namespace maxplus {

class RewardFunction final : public Verifier {
 public:
  struct Part {
    std::string name;
    double weight = 1;
    std::shared_ptr<const Verifier> verifier;
  };

  // `named`: verifiers that problems ask for by name. Precondition: at least one part.
  RewardFunction(std::vector<Part> parts, std::map<std::string, std::shared_ptr<const Verifier>, std::less<>> named);

  Assessment assess(const Problem& problem, const Rollout& rollout, std::string_view response) const override;
  bool judges() const override;
  bool needs_answer() const override;
  double deadline_s(double timeout_s) const override;
  std::string confinement() const override;

  const std::vector<Part>& parts() const { return parts_; }
  std::size_t judging_part() const { return judge_; }

 private:
  Assessment assess_part(std::size_t i, const Problem& problem, const Rollout& rollout,
                         std::string_view response) const;

  std::vector<Part> parts_;
  std::map<std::string, std::shared_ptr<const Verifier>, std::less<>> named_;
  std::size_t judge_ = 0;
};

struct RewardContext {
  std::uint64_t seed = 1;
  std::string folder;                              // of the deck
  std::string default_verifier;                    // the task's; taken if the deck names none
  std::shared_ptr<const Broker> broker = nullptr;  // who starts programs; null: nothing is judged
  std::vector<std::string> problem_verifiers;      // names that problems ask for
  Locate locate;  // asked for "verifier", "part.0.weight", "pattern", "part.1.pattern", …
};

// All faults at once as Error(ExitCode::config).
std::shared_ptr<const RewardFunction> make_reward_function(const RewardTable& table, const RewardContext& context);

}  // namespace maxplus
