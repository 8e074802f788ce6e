// The verifier `length`: a reward for staying short (or near a wanted length).
#include <algorithm>

#include <fmt/format.h>

#include "text/utf8.hpp"
#include "verify/all_verifiers.hpp"

namespace maxplus {

const char* const kLengthGrammar =
    "With L tokens in the response, its stop token included: reward 1 for minimum <= L <= target; beyond the target it "
    "falls\n"
    "linearly and is 0 from `maximum` on; below the minimum it is L / minimum. The verdict is correct where the reward "
    "is 1,\n"
    "else wrong; beside another part, that part's verdict stands. For `score`, L is the problem's key \"length\", or "
    "the number\n"
    "of response_ids, or else the number of code points of the response.";

namespace {

class LengthVerifier final : public Verifier {
 public:
  LengthVerifier(std::int64_t minimum, std::int64_t target, std::int64_t maximum)
      : minimum_(minimum), target_(target), maximum_(maximum) {}

  Assessment assess(const Problem& problem, const Rollout& rollout, std::string_view response) const override {
    const auto length = static_cast<double>(length_of(problem, rollout, response));
    double reward = 1;
    if (length < static_cast<double>(minimum_)) reward = length / static_cast<double>(minimum_);
    if (length > static_cast<double>(target_)) {
      reward = length >= static_cast<double>(maximum_)
                   ? 0.0
                   : (static_cast<double>(maximum_) - length) / static_cast<double>(maximum_ - target_);
    }
    Assessment assessment = judged(reward == 1 ? Verdict::correct : Verdict::wrong, fmt::format("{}", length));
    assessment.reward = static_cast<float>(reward);
    return assessment;
  }
  bool judges() const override { return false; }

 private:
  static std::int64_t length_of(const Problem& problem, const Rollout& rollout, std::string_view response) {
    if (!rollout.token.empty()) return static_cast<std::int64_t>(rollout.token.size());
    if (problem.extra.is_object()) {
      const auto given = problem.extra.find("length");
      if (given != problem.extra.end() && given->is_number_integer()) return given->get<std::int64_t>();
    }
    return static_cast<std::int64_t>(code_points(response).size());
  }

  std::int64_t minimum_, target_, maximum_;
};

}  // namespace

std::shared_ptr<const Verifier> make_length_verifier(KeyReader& keys, const VerifierSettings&) {
  constexpr std::int64_t kMost = 1'000'000'000;
  const std::int64_t minimum = keys.integer("minimum", 0, 0, kMost, "tokens below which the reward falls");
  const std::int64_t target = keys.integer("target", 256, 0, kMost, "tokens up to which the reward is 1");
  const std::int64_t maximum = keys.integer("maximum", 2 * std::max<std::int64_t>(target, 1), 1, 2 * kMost,
                                            "tokens from which the reward is 0; default: twice the target");
  if (minimum > target || maximum <= target) {
    keys.add_fault("target",
                   fmt::format("minimum = {}, target = {}, maximum = {} are not in order", minimum, target, maximum),
                   "minimum <= target < maximum", "a larger maximum");
    return nullptr;
  }
  return std::make_shared<LengthVerifier>(minimum, target, maximum);
}

}  // namespace maxplus
