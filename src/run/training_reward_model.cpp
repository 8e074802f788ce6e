// The reward model's scores of what was drawn: by the ranks that drew it, or by ranks that only score.
//
// There those that generate hand over all rollouts of a round, go on waiting for the judge, and get the scores back.
// How often that happens in an iteration they alone know, so a word of the end closes it.
#include <cstring>
#include <map>
#include <utility>

#include "base/error.hpp"
#include "io/fault_hook.hpp"
#include "roles/answer_score.hpp"
#include "roles/exchange.hpp"
#include "run/training_run.hpp"

namespace maxplus {

namespace {

constexpr std::uint64_t kEnd = ~std::uint64_t{0};  // instead of a number of rollouts

}  // namespace

std::vector<float> TrainingRun::score_answers_here(std::span<const Experience> experiences) {
  watchdog_->beat("reward model");
  std::vector<const Experience*> asked;
  for (const Experience& experience : experiences) asked.push_back(&experience);
  return score_answers(*engine_->reward_model(), asked, engine_->shape().limits.batch_tokens,
                       score_rule(*deck_.reward_model), inputs_.model.tokenizer.get());
}

// Each rank with the reward model scores its share.
std::vector<float> TrainingRun::score_answers_together(std::span<const Experience> experiences) {
  const Communicator& ranks = groups_->of(Role::reward);
  std::vector<Experience> mine;
  for (const std::int64_t i : dealt_to_rank(std::ssize(experiences), ranks.rank(), ranks.size()))
    mine.push_back(experiences[static_cast<std::size_t>(i)]);
  const std::vector<float> score = score_answers_here(mine);
  watchdog_->wait("exchange of scores");
  const std::vector<std::vector<std::byte>> parts = ranks.gather_all(std::as_bytes(std::span<const float>(score)));
  std::vector<float> all(experiences.size());
  for (int rank = 0; rank < ranks.size(); ++rank) {
    const std::vector<std::byte>& part = parts[static_cast<std::size_t>(rank)];
    const std::vector<std::int64_t> share = dealt_to_rank(std::ssize(experiences), rank, ranks.size());
    MAXPLUS_REQUIRE(part.size() == share.size() * sizeof(float), "a rank scored its share");
    for (std::size_t k = 0; k < share.size(); ++k)
      std::memcpy(&all[static_cast<std::size_t>(share[k])], part.data() + k * sizeof(float), sizeof(float));
  }
  return all;
}

std::vector<Experience> TrainingRun::ask_for_scores(const std::vector<Experience>& mine) const {
  watchdog_->wait("exchange of rollouts to be scored");
  std::vector<Experience> all = exchange_experiences(groups_->generators(), mine);
  std::uint64_t count = all.size();
  groups_->to_score().pass(&count, sizeof count);
  std::vector<std::byte> bytes;
  if (groups_->to_score().gives()) bytes = pack(all);
  groups_->to_score().pass(&bytes);
  return all;
}

std::vector<float> TrainingRun::hear_scores(std::span<const Experience> all, std::span<const Experience> mine) {
  std::vector<float> score(all.size());
  if (groups_->has(Role::reward)) score = score_answers_together(all);
  const Timer waiting;
  watchdog_->wait("scores of the reward model");
  groups_->scores().pass(score.data(), score.size() * sizeof(float));
  if (groups_->scores().takes()) waited_s_ += waiting.seconds();
  std::map<RolloutId, float> by_rollout;
  for (std::size_t i = 0; i < all.size(); ++i) by_rollout.emplace(all[i].rollout.id, score[i]);
  std::vector<float> of_mine;
  for (const Experience& experience : mine) of_mine.push_back(by_rollout.at(experience.rollout.id));
  return of_mine;
}

void TrainingRun::end_asking_for_scores() const {
  std::uint64_t count = kEnd;
  groups_->to_score().pass(&count, sizeof count);
}

void TrainingRun::serve_scores() {
  if (bell_) bell_->pull();  // it needs nothing for itself, and those that draw must not wait for it
  while (true) {
    watchdog_->wait("rollouts to be scored");
    std::uint64_t count = 0;
    groups_->to_score().pass(&count, sizeof count);
    if (count == kEnd) return;
    fault_point("scoring", world_.rank());
    std::vector<std::byte> bytes;
    groups_->to_score().pass(&bytes);
    const Timer working;
    const Trace::Span span(*trace_, "reward", "scoring", state_.iteration + 1);
    std::vector<float> score = score_answers_together(unpack(bytes.data(), bytes.size()));
    drawing_s_ += working.seconds();
    MAXPLUS_REQUIRE(score.size() == count, "a score a rollout");
    groups_->scores().pass(score.data(), score.size() * sizeof(float));
  }
}

}  // namespace maxplus
