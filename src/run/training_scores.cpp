// What a run finds out about rollouts: the judge's reward and the reward model's, log-probabilities under the reference
// and under the policy at the start of the iteration, and the reward of the greedy answer.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "roles/exchange.hpp"
#include "roles/scorer.hpp"
#include "roles/weight_sync.hpp"
#include "run/stop_signals.hpp"
#include "run/training_run.hpp"

namespace maxplus {

namespace {

// What a network beside the policy says decides how the policy moves.
void require_finite(std::span<const float> values, const char* table) {
  if (std::all_of(values.begin(), values.end(), [](float x) { return std::isfinite(x); })) return;
  throw Error(ExitCode::numeric,
              Fault{"", fmt::format("{} gave a value that is not finite", table), "numbers; nothing was trained on it",
                    "another model, or [model] compute = \"f32\"; the newest checkpoint is good"});
}

}  // namespace

std::vector<std::vector<float>> TrainingRun::score(Transformer& transformer,
                                                   std::span<const Experience* const> experiences) {
  return score_experiences(transformer, experiences, static_cast<float>(1.0 / deck_.generation.temperature),
                           engine_->shape().limits.batch_tokens);
}

// On ranks that have both, and to those of the role that do not train.
void TrainingRun::copy_policy_to(Role role) {
  const std::uint64_t seed = role == Role::critic ? static_cast<std::uint64_t>(deck_.run.seed) : 0;
  WeightSet* const copy = role == Role::critic ? engine_->critic_weights() : engine_->reference_weights();
  WeightSet* const policy = groups_->trains() ? &engine_->weights() : nullptr;
  if (policy != nullptr && copy != nullptr) copy_other_heads(engine_->stream(), *policy, *copy, seed);
  const Relay& relay = groups_->copies(role);
  if (!relay.gives() && !relay.takes()) return;
  watchdog_->wait("copy of the policy");
  const EngineShape all = engine_shape(deck_, inputs_);
  hand_off_copy(relay, role == Role::critic ? all.critic->model : all.reference->model, policy, copy, seed);
}

// From its file, on the ranks that have it; where it is the policy's copy it stands there already.
void TrainingRun::load_reference() {
  const bool here = engine_->reference() != nullptr;
  if (here && deck_.reference->path == "policy") engine_->reference()->pack_weights();
  if (deck_.reference->path == "policy") return;
  const double error = here ? engine_->load_reference(inputs_.reference->open_weights()) : 0;
  tell_kept("reference", deck_.reference->weights, maximum_of(world_, error));
}

void TrainingRun::refresh_reference() {
  if (!deck_.reference || deck_.reference->refresh_every == 0) return;
  if (state_.iteration % deck_.reference->refresh_every != 0) return;
  copy_policy_to(Role::reference);
  if (engine_->reference() != nullptr) engine_->reference()->pack_weights();
}

// With the divergence of the iteration that a line tells of.
void TrainingRun::move_kl_coefficient(MetricsRow* row) {
  const std::optional<double> now = algorithm_->kl_coefficient();
  if (!now) return;
  row->set("kl_coefficient", *now);
  if (!row->has("kl_reference")) return;
  state_.kl_coefficient =
      algorithm_->next_kl_coefficient(row->number("kl_reference"), static_cast<std::int64_t>(row->number("rollouts")));
  algorithm_->set_kl_coefficient(state_.kl_coefficient);
}

void TrainingRun::load_reward_model() {
  const bool here = engine_->reward_model() != nullptr;
  const double error = here ? engine_->load_reward_model(inputs_.reward_model->open_weights()) : 0;
  tell_kept("reward_model", deck_.reward_model->weights, maximum_of(world_, error));
}

void TrainingRun::tell_kept(const std::string& table, const std::string& type, double error) {
  if (type == "f32") return;
  recorder_->event(fmt::format("[{}] is kept in {}: its layers' weights differ from the file's by {:.2e} of their size",
                               table, type, error));
}

// Without a judge every rollout counts, and its reward is the reward model's alone.
std::vector<Assessment> TrainingRun::judge(std::span<const Problem* const> problems, std::span<const Rollout> rollouts,
                                           bool judged_so_far) {
  std::vector<Assessment> assessments(rollouts.size());
  std::vector<Experience> to_score, of_all;
  if (deck_.reward_model) {
    for (std::size_t i = 0; i < rollouts.size(); ++i) to_score.push_back({*problems[i], rollouts[i], {}, {}});
    if (scores_elsewhere()) of_all = ask_for_scores(to_score);
  }
  if (assessor_) {
    if (!judged_so_far) assessor_->add(0, problems, rollouts);
    assessments = assessor_->finish([this] {
      watchdog_->beat("assessment");
      return stop_requested();
    });
  }
  if (deck_.reward_model)
    add_model_scores(scores_elsewhere() ? hear_scores(of_all, to_score) : score_answers_here(to_score), &assessments);
  return assessments;
}

void TrainingRun::add_model_scores(std::span<const float> score, std::vector<Assessment>* assessments) const {
  require_finite(score, "[reward_model]");
  for (std::size_t i = 0; i < score.size(); ++i) {
    Assessment& assessment = (*assessments)[i];
    assessment.part.push_back(score[i]);
    assessment.reward = static_cast<float>(static_cast<double>(assessment.reward) +
                                           deck_.reward_model->weight * static_cast<double>(score[i]));
  }
}

void TrainingRun::ask_networks(std::span<Experience> experiences, std::int64_t iteration) {
  if (engine_->reference() != nullptr) {
    const Trace::Span span(*trace_, "reference", "assessment", iteration);
    fill_reference(experiences, [this](std::span<const Experience* const> asked) {
      return score_together(Role::reference, *engine_->reference(), asked);
    });
  }
  if (groups_->has(Role::critic) && engine_->critic() != nullptr) {
    const Trace::Span span(*trace_, "critic", "assessment", iteration);
    fill_values(experiences);
  }
  if (deck_.reference)
    hand_on_scores(groups_->references(), experiences, &Assessment::reference_log_prob, "scores of the reference");
  if (deck_.critic) hand_on_scores(groups_->values(), experiences, &Assessment::value, "values of the critic");
}

// A number a response token, on both sides of the same rollouts.
void TrainingRun::hand_on_scores(const Relay& relay, std::span<Experience> experiences,
                                 std::vector<float> Assessment::*scores, const char* what) {
  if (!relay.gives() && !relay.takes()) return;
  std::vector<float> all;
  for (const Experience& experience : experiences) {
    const std::vector<float>& of_rollout = experience.assessment.*scores;
    if (relay.gives()) all.insert(all.end(), of_rollout.begin(), of_rollout.end());
    if (relay.takes()) all.resize(all.size() + experience.rollout.token.size());
  }
  const Timer waiting;
  watchdog_->wait(what);
  relay.pass(all.data(), all.size() * sizeof(float));
  if (!relay.takes()) return;
  waited_s_ += waiting.seconds();
  auto next = all.begin();
  for (Experience& experience : experiences) {
    const auto count = std::ssize(experience.rollout.token);
    (experience.assessment.*scores).assign(next, next + count);
    next += count;
  }
}

void TrainingRun::fill_reference(std::span<Experience> experiences, const Scoring& scoring) {
  watchdog_->beat("reference");
  std::vector<Experience*> asked;
  for (Experience& experience : experiences) {
    if (experience.assessment.reference_log_prob.size() != experience.rollout.token.size())
      asked.push_back(&experience);
  }
  std::vector<std::vector<float>> log_prob = scoring(std::vector<const Experience*>(asked.begin(), asked.end()));
  for (const std::vector<float>& of_rollout : log_prob) require_finite(of_rollout, "[reference]");
  for (std::size_t i = 0; i < asked.size(); ++i) asked[i]->assessment.reference_log_prob = std::move(log_prob[i]);
}

void TrainingRun::fill_values(std::span<Experience> experiences) {
  watchdog_->beat("critic");
  std::vector<Experience*> asked;
  for (Experience& experience : experiences) {
    if (experience.assessment.value.size() != experience.rollout.token.size()) asked.push_back(&experience);
  }
  std::vector<std::vector<float>> value =
      together(Role::critic, std::vector<const Experience*>(asked.begin(), asked.end()),
               [this](std::span<const Experience* const> mine) {
                 return value_experiences(*engine_->critic(), mine, engine_->shape().limits.batch_tokens);
               });
  for (std::size_t i = 0; i < asked.size(); ++i) asked[i]->assessment.value = std::move(value[i]);
}

// Without a record of log-probabilities, the policy's own at the start of the iteration are taken.
void TrainingRun::fill_missing_scores(std::vector<Experience>* recorded) {
  if (!engine_->policy().config().token_head) return;
  std::vector<Experience*> asked;
  for (Experience& experience : *recorded) {
    if (experience.rollout.log_prob.empty() && !experience.rollout.token.empty()) asked.push_back(&experience);
  }
  std::vector<std::vector<float>> log_prob =
      score(engine_->policy(), std::vector<const Experience*>(asked.begin(), asked.end()));
  for (std::size_t i = 0; i < asked.size(); ++i) asked[i]->rollout.log_prob = std::move(log_prob[i]);
}

std::vector<std::vector<float>> TrainingRun::score_together(Role role, Transformer& transformer,
                                                            std::span<const Experience* const> experiences) {
  return together(role, experiences, [&](std::span<const Experience* const> mine) { return score(transformer, mine); });
}

std::vector<std::vector<float>> TrainingRun::together(Role role, std::span<const Experience* const> experiences,
                                                      const Scoring& scoring) {
  const Communicator& ranks = groups_->of(role);
  const auto count = std::ssize(experiences);
  std::vector<const Experience*> mine;
  for (const std::int64_t i : dealt_to_rank(count, ranks.rank(), ranks.size()))
    mine.push_back(experiences[static_cast<std::size_t>(i)]);
  std::vector<float> sent;
  for (const std::vector<float>& of_rollout : scoring(mine))
    sent.insert(sent.end(), of_rollout.begin(), of_rollout.end());
  watchdog_->wait("exchange of scores");
  const std::vector<std::vector<std::byte>> parts = ranks.gather_all(std::as_bytes(std::span<const float>(sent)));
  std::vector<std::vector<float>> all(experiences.size());
  for (int rank = 0; rank < ranks.size(); ++rank) {
    const std::vector<std::byte>& part = parts[static_cast<std::size_t>(rank)];
    std::size_t at = 0;
    for (const std::int64_t i : dealt_to_rank(count, rank, ranks.size())) {
      std::vector<float>& of_rollout = all[static_cast<std::size_t>(i)];
      of_rollout.resize(experiences[static_cast<std::size_t>(i)]->rollout.token.size());
      const std::size_t bytes = of_rollout.size() * sizeof(float);
      MAXPLUS_REQUIRE(at + bytes <= part.size(), "a rank sent fewer scores than its share");
      if (bytes > 0) std::memcpy(of_rollout.data(), part.data() + at, bytes);
      at += bytes;
    }
  }
  return all;
}

void TrainingRun::fill_proximal(Collected* collected) {
  watchdog_->beat("proximal policy");
  std::vector<Experience*> trained;
  for (std::size_t i = 0; i < collected->experiences.size(); ++i) {
    Experience& experience = collected->experiences[i];
    if (collected->dropped[i] == 0 && algorithm_->takes_part(experience)) trained.push_back(&experience);
  }
  std::vector<std::vector<float>> log_prob =
      score_together(Role::actor, engine_->policy(), std::vector<const Experience*>(trained.begin(), trained.end()));
  for (std::size_t i = 0; i < trained.size(); ++i) trained[i]->proximal_log_prob = std::move(log_prob[i]);
}

// One answer to each group's problem, in the order of the groups.
std::vector<Rollout> TrainingRun::draw_greedy(std::span<const GenerationRequest> requests, GenerationRule rule,
                                              const StopRequest& stop) {
  rule.sampling.greedy = true;
  rule.token_budget = 0;
  std::vector<GenerationRequest> single(requests.begin(), requests.end());
  for (GenerationRequest& request : single) request.ids.resize(1), request.begun.clear();
  return engine_->generator().generate(single, rule, stop);
}

// A greedy answer that could not be judged leaves its group without a baseline.
void TrainingRun::fill_greedy_rewards(std::vector<Experience>* experiences, const std::vector<Rollout>& greedy) {
  std::map<std::int64_t, const Problem*> problem_of_group;
  for (const Experience& experience : *experiences)
    problem_of_group.emplace(experience.rollout.group, &experience.problem);
  std::vector<const Problem*> problems;
  for (const Rollout& rollout : greedy) problems.push_back(problem_of_group.at(rollout.group));
  const std::vector<Assessment> judged = judge(problems, greedy, false);
  std::map<std::int64_t, float> reward_of_group;
  for (std::size_t i = 0; i < greedy.size(); ++i) {
    if (counts(judged[i].verdict)) reward_of_group.emplace(greedy[i].group, judged[i].reward);
  }
  for (Experience& experience : *experiences) {
    const auto reward = reward_of_group.find(experience.rollout.group);
    if (reward != reward_of_group.end()) experience.assessment.greedy_reward = reward->second;
  }
}

}  // namespace maxplus
