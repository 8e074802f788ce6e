#include "rl/algorithms/preference.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/strings.hpp"
#include "deck/tables.hpp"
#include "rl/algorithms/aggregation.hpp"
#include "rl/algorithms/given_keys.hpp"
#include "rl/algorithms/policy_loss.hpp"

namespace maxplus {

namespace {

bool has_trainable(std::span<const std::uint8_t> trainable) {
  return std::any_of(trainable.begin(), trainable.end(), [](std::uint8_t x) { return x != 0; });
}

// What is compared: the score behind the last token, log-ratios to the reference, or log-probabilities.
AnswerSum sum_of(const TokenTerms& terms, const PreferenceRule& rule) {
  if (rule.of_scores()) return {static_cast<double>(terms.value.back()), 0};
  AnswerSum answer;
  for (std::size_t t = 0; t < terms.trainable.size(); ++t) {
    if (terms.trainable[t] == 0) continue;
    answer.sum += static_cast<double>(terms.log_prob[t]);
    if (rule.needs_reference()) answer.sum -= static_cast<double>(terms.reference_log_prob[t]);
    answer.tokens += 1;
  }
  return answer;
}

// Of a score: its gradient stands behind the last token.
TokenLoss score_loss_of(const TokenTerms& terms, double slope) {
  TokenLoss loss;
  loss.tokens = std::count_if(terms.trainable.begin(), terms.trainable.end(), [](std::uint8_t x) { return x != 0; });
  loss.d_value.assign(terms.value.size(), 0.0f);
  loss.d_value.back() = static_cast<float>(slope);
  return loss;
}

// Metrics of an answer, and its gradient: the same at every trainable token.
TokenLoss answer_loss(const TokenTerms& terms, double slope, const PreferenceRule& rule) {
  if (rule.of_scores()) return score_loss_of(terms, slope);
  TokenLoss loss = token_metrics(terms);
  loss.d_log_prob.assign(terms.trainable.size(), 0.0f);
  loss.d_entropy.assign(terms.trainable.size(), 0.0f);
  for (std::size_t t = 0; t < terms.trainable.size(); ++t) {
    if (terms.trainable[t] != 0) loss.d_log_prob[t] = static_cast<float>(slope);
  }
  return loss;
}

// 1: chosen, good; -1: rejected, bad; 0: takes no part.
int mark_of(std::span<const float> advantage) {
  for (const float a : advantage) {
    if (a != 0) return a > 0 ? 1 : -1;
  }
  return 0;
}

void mark(Experience& experience, int value) {
  for (std::size_t t = 0; t < experience.advantage.size(); ++t)
    experience.advantage[t] = experience.rollout.trainable[t] != 0 ? static_cast<float>(value) : 0.0f;
}

bool usable(const Experience& experience) {
  return counts(experience.assessment.verdict) && has_trainable(experience.rollout.trainable);
}

}  // namespace

Preference::Preference(PreferenceSettings settings, PreferenceSettings paper)
    : settings_(std::move(settings)), paper_(std::move(paper)) {}

Needs Preference::needs() const {
  Needs needs;
  needs.reference = settings_.rule.needs_reference();
  needs.proximal = !settings_.rule.of_pairs();  // for the reference point
  needs.answer_score = settings_.rule.of_scores();
  return needs;
}

void Preference::fill_advantages(std::span<Experience> whole_groups) const {
  std::map<std::int64_t, std::pair<Experience*, Experience*>> pair_of_group;  // largest and smallest reward
  for (Experience& experience : whole_groups) {
    experience.advantage.assign(experience.rollout.token.size(), 0.0f);
    if (!usable(experience)) continue;
    const float reward = experience.assessment.reward;
    if (!settings_.rule.of_pairs()) {
      mark(experience, reward > 0 ? 1 : -1);
      continue;
    }
    auto& [best, worst] = pair_of_group.try_emplace(experience.rollout.group, &experience, &experience).first->second;
    if (reward > best->assessment.reward) best = &experience;
    if (reward < worst->assessment.reward) worst = &experience;
  }
  for (const auto& [group, pair] : pair_of_group) {
    if (pair.first->assessment.reward == pair.second->assessment.reward) continue;
    mark(*pair.first, 1);
    mark(*pair.second, -1);
  }
}

bool Preference::takes_part(const Experience& experience) const { return mark_of(experience.advantage) != 0; }

StepStatistics Preference::prepare(std::span<const Experience* const> step) const {
  StepStatistics statistics = count_step(*this, step);
  if (settings_.rule.of_pairs() || step.empty()) return statistics;
  double sum = 0;
  for (const Experience* experience : step) {
    TokenTerms terms;
    terms.log_prob = experience->proximal_log_prob;
    terms.reference_log_prob = experience->assessment.reference_log_prob;
    terms.trainable = experience->rollout.trainable;
    sum += sum_of(terms, settings_.rule).sum;
  }
  statistics.reference_point = std::max(0.0, sum / static_cast<double>(step.size()));
  return statistics;
}

TokenLoss Preference::loss(const TokenTerms& terms, const StepStatistics& statistics) const {
  MAXPLUS_REQUIRE(!settings_.rule.of_pairs(), "a loss of pairs is asked for pairs");
  const double answers = std::max(statistics.sequences, 1.0);
  const MarkedLoss marked = marked_loss(sum_of(terms, settings_.rule), mark_of(terms.advantage) > 0,
                                        statistics.reference_point, settings_.rule);
  TokenLoss loss = answer_loss(terms, marked.slope / answers, settings_.rule);
  loss.policy = loss.loss = marked.value / answers;
  return loss;
}

std::vector<TokenLoss> Preference::group_loss(std::span<const TokenTerms> members,
                                              const StepStatistics& statistics) const {
  if (!settings_.rule.of_pairs()) return Algorithm::group_loss(members, statistics);
  MAXPLUS_REQUIRE(members.size() == 2, fmt::format("a pair of {} answers", members.size()));
  const std::size_t chosen = mark_of(members[0].advantage) > 0 ? 0 : 1, rejected = 1 - chosen;
  MAXPLUS_REQUIRE(mark_of(members[chosen].advantage) > 0 && mark_of(members[rejected].advantage) < 0,
                  "a pair has a chosen and a rejected answer");
  const double pairs = std::max(statistics.sequences / 2, 1.0);
  const PairLoss pair =
      pair_loss(sum_of(members[chosen], settings_.rule), sum_of(members[rejected], settings_.rule), settings_.rule);
  std::vector<TokenLoss> losses(2);
  losses[chosen] = answer_loss(members[chosen], pair.by_chosen / pairs, settings_.rule);
  losses[rejected] = answer_loss(members[rejected], pair.by_rejected / pairs, settings_.rule);
  losses[chosen].policy = losses[chosen].loss = pair.value / pairs;
  losses[chosen].pairs = 1;
  losses[chosen].pairs_right = pair.margin > 0 ? 1 : 0;
  losses[chosen].margin_sum = pair.margin;
  return losses;
}

double Preference::worth(const TokenTerms& terms) const {
  return worth_of(sum_of(terms, settings_.rule), settings_.rule);
}

std::vector<std::string> Preference::describe() const {
  std::vector<std::string> lines = {fmt::format("algorithm {} ({})", settings_.name, settings_.paper),
                                    "loss = " + settings_.rule.describe() +
                                        (settings_.rule.of_pairs() ? ", mean over pairs" : ", mean over answers")};
  if (settings_.online)
    lines.emplace_back("a pair is the best and the worst answer of a group; equal rewards teach nothing");
  if (settings_.rule.of_scores()) {
    lines.emplace_back(
        "the network gives one number behind an answer's last token instead of tokens: a classifier with one label");
  }
  if (!settings_.rule.of_pairs()) {
    lines.emplace_back(
        "the reference point z is the mean log-ratio of the step's own answers at the start of the iteration, at least "
        "0 (the paper: of answers to other prompts)");
  }
  if (settings_.rule.describe() != paper_.rule.describe())
    lines.push_back(fmt::format("differs from the defaults of {}: {}", settings_.name, paper_.rule.describe()));
  return lines;
}

namespace {

std::vector<PreferenceSettings> all_defaults() {
  const auto rule = [](PreferenceLoss loss, double beta, double margin) {
    PreferenceRule r;
    r.loss = loss;
    r.beta = beta;
    r.margin = margin;
    return r;
  };
  return {
      {"dpo", "Rafailov et al. 2023, arXiv 2305.18290", rule(PreferenceLoss::dpo, 0.1, 0), false},
      {"ipo", "Azar et al. 2023, arXiv 2310.12036", rule(PreferenceLoss::ipo, 0.1, 0), false},
      {"simpo", "Meng et al. 2024, arXiv 2405.14734", rule(PreferenceLoss::simpo, 2, 1), false},
      {"orpo", "Hong et al. 2024, arXiv 2403.07691", rule(PreferenceLoss::orpo, 0.1, 0), false},
      {"kto", "Ethayarajh et al. 2024, arXiv 2402.01306", rule(PreferenceLoss::kto, 0.1, 0), false},
      {"reward_model", "Ouyang et al. 2022, arXiv 2203.02155", rule(PreferenceLoss::score, 1, 0), false},
      {"online_dpo", "Guo et al. 2024, arXiv 2402.04792", rule(PreferenceLoss::dpo, 0.1, 0), true},
  };
}

std::vector<std::string> own_keys(const PreferenceSettings& settings) {
  switch (settings.rule.loss) {
    case PreferenceLoss::dpo: return {"beta", "label_smoothing"};
    case PreferenceLoss::ipo: return {"beta", "length_mean"};
    case PreferenceLoss::simpo: return {"beta", "margin"};
    case PreferenceLoss::orpo: return {"beta"};
    case PreferenceLoss::kto: return {"beta", "desirable_weight", "undesirable_weight"};
    case PreferenceLoss::score: return {"label_smoothing", "margin"};
  }
  MAXPLUS_REQUIRE(false, "unknown preference loss");
}

void refuse_without_use(const AlgorithmTable& table, const PreferenceSettings& settings, std::vector<Fault>& faults) {
  const std::vector<std::string> own = own_keys(settings);
  for (const GivenKey& key : given_keys(table)) {
    if (std::find(own.begin(), own.end(), key.name) != own.end()) continue;
    faults.push_back({"",
                      fmt::format("[algorithm] {} = {} has no meaning with name = '{}', which compares whole answers",
                                  key.name, key.value, settings.name),
                      "its own keys: " + join(own, ", "), "remove " + key.name});
  }
}

}  // namespace

std::vector<std::string> preference_names() {
  std::vector<std::string> names;
  for (const PreferenceSettings& settings : all_defaults()) names.push_back(settings.name);
  return names;
}

std::optional<PreferenceSettings> preference_defaults(const std::string& name) {
  for (PreferenceSettings& settings : all_defaults()) {
    if (settings.name == name) return std::move(settings);
  }
  return std::nullopt;
}

std::unique_ptr<Preference> make_preference(const AlgorithmTable& table) {
  const std::optional<PreferenceSettings> paper = preference_defaults(table.name);
  MAXPLUS_REQUIRE(paper, "the name of a preference rule");
  std::vector<Fault> faults;
  refuse_without_use(table, *paper, faults);
  if (!faults.empty()) throw Error(ExitCode::config, std::move(faults));
  PreferenceSettings settings = *paper;
  settings.rule.beta = table.beta.value_or(settings.rule.beta);
  settings.rule.label_smoothing = table.label_smoothing.value_or(settings.rule.label_smoothing);
  settings.rule.margin = table.margin.value_or(settings.rule.margin);
  settings.rule.mean_over_tokens = table.length_mean.value_or(settings.rule.mean_over_tokens);
  settings.rule.good_weight = table.desirable_weight.value_or(settings.rule.good_weight);
  settings.rule.bad_weight = table.undesirable_weight.value_or(settings.rule.bad_weight);
  return std::make_unique<Preference>(std::move(settings), *paper);
}

}  // namespace maxplus
