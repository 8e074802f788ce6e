#include "roles/trainer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"

namespace maxplus {

namespace {

TokenTerms terms_of(const Experience& experience, std::int64_t policy_version) {
  TokenTerms terms;
  terms.old_log_prob = experience.rollout.log_prob;
  terms.reference_log_prob = experience.assessment.reference_log_prob;
  terms.advantage = experience.advantage;
  terms.trainable = experience.rollout.trainable;
  terms.proximal_log_prob = experience.proximal_log_prob;
  terms.version = experience.rollout.version;
  terms.policy_version = policy_version;
  terms.correct = experience.assessment.verdict == Verdict::correct;
  return terms;
}

}  // namespace

Trainer::Trainer(Transformer& policy, WeightSet& weights, const OptimizerTable& table, const Stream& stream,
                 Arena& gradients, Arena& moments, int data_rank, int data_ranks)
    : policy_(policy), learner_(policy, weights, table, stream, gradients, moments, data_rank, data_ranks) {}

std::optional<StepReport> Trainer::step(const StepRequest& asked, const Communicator& data_ranks,
                                        const std::function<void()>& beat) {
  if (asked.experiences.empty()) return std::nullopt;
  const StepStatistics statistics = asked.algorithm->prepare(asked.experiences);
  if (statistics.tokens == 0) return std::nullopt;
  StepRequest request = asked;
  std::vector<Experience> whole;
  std::vector<const Experience*> of_whole;
  StepReport report;
  if (asked.algorithm->needs().answer_score) {
    whole = fed_whole(asked.experiences);
    for (const Experience& experience : whole) of_whole.push_back(&experience);
    request.experiences = of_whole;
    report.has_policy = false;
  }
  report.learning_rate = request.learning_rate;
  report.denominator_tokens = statistics.tokens;
  report.denominator_sequences = statistics.sequences;
  report.has_reference = request.algorithm->needs().reference;
  StepRecords records;
  const auto micro_batch = [&](const RolloutList& rollouts) {
    run_micro_batch(request, statistics, rollouts, &records, &report);
  };
  const GroupCut cut = request.algorithm->joins_groups() ? GroupCut::between : GroupCut::anywhere;
  const StepManner manner{request.learning_rate, request.on_not_finite, cut, "optimizer step"};
  const UpdateReport update = learner_.step(request.experiences, manner, data_ranks, micro_batch, beat);
  report.tokens_processed = data_ranks.sum(report.tokens_processed);
  summarise(records.policy, data_ranks, &report);
  if (has_shared_critic(request)) {
    report.value = summarise_values(records.value, data_ranks);
    report.loss += request.algorithm->value_coefficient() * report.value->loss;
  }
  report.gradient_norm = update.gradient_norm;
  report.update_norm = update.update_norm;
  report.skipped = update.skipped;
  return report;
}

bool Trainer::has_shared_critic(const StepRequest& request) const {
  return policy_.config().value_head && request.algorithm->needs().critic;
}

Trainer::RolloutRecord Trainer::record_of(std::int32_t rollout, const TokenLoss& loss) {
  return {rollout,
          loss.tokens,
          loss.clipped_low,
          loss.clipped_high,
          loss.importance_weighed,
          loss.importance_truncated,
          loss.importance_masked,
          loss.pairs,
          loss.pairs_right,
          loss.loss,
          loss.policy,
          loss.kl,
          loss.ratio_sum,
          loss.ratio_min,
          loss.ratio_max,
          loss.importance_sum,
          loss.importance_square_sum,
          loss.importance_max,
          loss.kl_old_sum,
          loss.kl_reference_sum,
          loss.entropy_sum,
          loss.gap_max,
          loss.margin_sum};
}

Trainer::Said Trainer::ask(const StepRequest& request, const MicroBatch& batch) {
  Said said;
  if (request.algorithm->needs().answer_score) {
    std::vector<float> value(batch.row.size());
    policy_.values(batch.row, value);
    said.value = by_rollout(batch, value);
    said.log_prob.resize(said.value.size()), said.entropy.resize(said.value.size());
    return said;
  }
  std::vector<float> log_prob(batch.row.size()), entropy(batch.row.size());
  policy_.score(HeadTargets{batch.row, batch.target}, request.inverse_temperature, log_prob, entropy);
  said.log_prob = by_rollout(batch, log_prob), said.entropy = by_rollout(batch, entropy);
  said.value.resize(said.log_prob.size());
  return said;
}

void Trainer::run_micro_batch(const StepRequest& request, const StepStatistics& statistics, const RolloutList& rollouts,
                              StepRecords* records, StepReport* report) {
  const MicroBatch batch = build_micro_batch(request.experiences, rollouts);
  report->tokens_processed += batch.batch.tokens();
  policy_.forward(batch.batch);
  const Said now = ask(request, batch);
  std::vector<std::vector<float>> d_log_prob, d_entropy, d_score;
  for (std::size_t first = 0; first < rollouts.size();) {
    const auto experience = [&](std::size_t r) -> const Experience& {
      return *request.experiences[static_cast<std::size_t>(rollouts[r])];
    };
    std::vector<TokenTerms> members;
    std::size_t last = first;
    for (; last < rollouts.size() && experience(last).rollout.group == experience(first).rollout.group; ++last) {
      TokenTerms terms = terms_of(experience(last), request.policy_version);
      terms.log_prob = now.log_prob[last], terms.entropy = now.entropy[last], terms.value = now.value[last];
      members.push_back(terms);
    }
    for (TokenLoss& loss : request.algorithm->group_loss(members, statistics)) {
      records->policy.push_back(record_of(static_cast<std::int32_t>(rollouts[first++]), loss));
      d_log_prob.push_back(std::move(loss.d_log_prob));
      d_entropy.push_back(std::move(loss.d_entropy));
      d_score.push_back(std::move(loss.d_value));
    }
    MAXPLUS_REQUIRE(first == last, "a loss a rollout");
  }
  if (!report->has_policy) return policy_.backward({{}, {}, by_target(batch, d_score)});
  std::vector<float> d_value;
  if (has_shared_critic(request)) {
    d_value = value_gradients(policy_, batch, request.experiences, *request.algorithm, statistics,
                              ValueScale::shared_network, &records->value);
  }
  policy_.backward({by_target(batch, d_log_prob), by_target(batch, d_entropy), d_value});
}

void Trainer::summarise(const std::vector<RolloutRecord>& mine, const Communicator& data_ranks,
                        StepReport* report) const {
  const std::vector<RolloutRecord> all = gather_records(mine, data_ranks);
  double ratio_sum = 0, importance_sum = 0, importance_squares = 0, kl_old = 0, kl_reference = 0, entropy = 0;
  std::int64_t tokens = 0, clipped_low = 0, clipped_high = 0, weighed = 0, truncated = 0, masked = 0, pairs_right = 0;
  double margin = 0;
  report->importance_ratio_max = 0;
  report->ratio_min = std::numeric_limits<double>::infinity();
  report->ratio_max = -std::numeric_limits<double>::infinity();
  for (const RolloutRecord& record : all) {
    report->loss += record.loss;
    report->policy_loss += record.policy;
    report->kl_loss += record.kl;
    if (record.tokens == 0) continue;
    tokens += record.tokens;
    clipped_low += record.clipped_low;
    clipped_high += record.clipped_high;
    ratio_sum += record.ratio_sum;
    importance_sum += record.importance_sum;
    importance_squares += record.importance_square_sum;
    report->importance_ratio_max = std::max(report->importance_ratio_max, record.importance_max);
    weighed += record.weighed;
    truncated += record.truncated;
    masked += record.masked;
    report->pairs += record.pairs;
    pairs_right += record.pairs_right;
    margin += record.margin_sum;
    kl_old += record.kl_old_sum;
    kl_reference += record.kl_reference_sum;
    entropy += record.entropy_sum;
    report->ratio_min = std::min(report->ratio_min, record.ratio_min);
    report->ratio_max = std::max(report->ratio_max, record.ratio_max);
    report->log_prob_gap_max = std::max(report->log_prob_gap_max, record.gap_max);
  }
  MAXPLUS_REQUIRE(tokens > 0, "a step without trainable tokens is not taken");
  const auto count = static_cast<double>(tokens);
  report->tokens_trained = tokens;
  report->ratio_mean = ratio_sum / count;
  report->effective_sample_share = importance_sum * importance_sum / (count * importance_squares);
  report->has_importance_weights = weighed > 0;
  if (report->pairs > 0) {
    report->preference_accuracy = static_cast<double>(pairs_right) / static_cast<double>(report->pairs);
    report->preference_margin = margin / static_cast<double>(report->pairs);
  }
  report->importance_truncated_share = static_cast<double>(truncated) / count;
  report->importance_masked_share = static_cast<double>(masked) / count;
  report->kl_old = kl_old / count;
  report->kl_reference = kl_reference / count;
  report->entropy_mean = entropy / count;
  report->clip_share_low = static_cast<double>(clipped_low) / count;
  report->clip_share_high = static_cast<double>(clipped_high) / count;
}

}  // namespace maxplus
