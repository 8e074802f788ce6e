// The verifier `random`: a reward that knows nothing, for controls. A run that improves under it learns from something
// else.
#include "base/random.hpp"

#include <xxhash.h>

#include "verify/all_verifiers.hpp"

namespace maxplus {

const char* const kRandomGrammar =
    "Reward 1 (verdict correct) with the probability `probability`, else 0 (verdict wrong), drawn from the run's seed "
    "and the\n"
    "rollout's id (for `score`: its key \"rollout_id\", else its \"id\" and response): the same on any number of "
    "ranks.";

namespace {

class RandomVerifier final : public Verifier {
 public:
  RandomVerifier(double probability, std::uint64_t seed) : probability_(probability), seed_(seed) {}
  Assessment assess(const Problem& problem, const Rollout& rollout, std::string_view response) const override {
    std::uint64_t first = rollout.id.packed(), second = 0;
    if (first == 0 && rollout.token.empty()) {  // a line of `score`, not a rollout
      first = static_cast<std::uint64_t>(problem.id);
      second = XXH3_64bits(response.data(), response.size()) | 1;
    }
    const bool hit = uniform_double(seed_, Purpose::random_reward, first, second) < probability_;
    return judged(hit ? Verdict::correct : Verdict::wrong, "");
  }
  bool judges() const override { return false; }

 private:
  double probability_;
  std::uint64_t seed_;
};

}  // namespace

std::shared_ptr<const Verifier> make_random_verifier(KeyReader& keys, const VerifierSettings& settings) {
  return std::make_shared<RandomVerifier>(keys.number("probability", 0.5, 0, 1, "of reward 1"), settings.seed);
}

}  // namespace maxplus
