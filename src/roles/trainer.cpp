#include "roles/trainer.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "base/error.hpp"
#include "ops/elementwise.hpp"

namespace maxplus {

namespace {

AdamWSettings adamw_settings(const OptimizerTable& table) {
  AdamWSettings settings;
  settings.beta1 = table.beta1;
  settings.beta2 = table.beta2;
  settings.epsilon = table.epsilon;
  settings.weight_decay = table.weight_decay;
  settings.gradient_clip = table.gradient_clip;
  return settings;
}

TokenTerms terms_of(const Experience& experience, std::span<const float> log_prob, std::span<const float> entropy,
                    std::int64_t policy_version) {
  TokenTerms terms;
  terms.log_prob = log_prob;
  terms.entropy = entropy;
  terms.old_log_prob = experience.rollout.log_prob;
  terms.reference_log_prob = experience.assessment.reference_log_prob;
  terms.advantage = experience.advantage;
  terms.trainable = experience.rollout.trainable;
  terms.proximal_log_prob = experience.proximal_log_prob;
  terms.version = experience.rollout.version;
  terms.policy_version = policy_version;
  return terms;
}

}  // namespace

Trainer::Trainer(Transformer& policy, WeightSet& weights, const OptimizerTable& table, const Stream& stream,
                 Arena& gradients, Arena& moments, int data_rank, int data_ranks)
    : policy_(policy),
      weights_(weights),
      table_(table),
      stream_(stream),
      sum_(gradients, weights.gradient_elements(), static_cast<int>(table.gradient_slices), data_rank, data_ranks),
      total_(sum_.first_buffer()),
      optimizer_(weights.parameters(), adamw_settings(table), moments) {}

std::optional<StepReport> Trainer::step(const StepRequest& request, const Communicator& data_ranks,
                                        const std::function<void()>& beat) {
  if (request.experiences.empty()) return std::nullopt;
  const StepStatistics statistics = request.algorithm->prepare(request.experiences);
  if (statistics.tokens == 0) return std::nullopt;
  const StepPlan plan =
      plan_step(request.experiences, static_cast<int>(table_.gradient_slices), table_.micro_batch_tokens,
                request.algorithm->joins_groups() ? GroupCut::between : GroupCut::anywhere);

  StepReport report;
  report.learning_rate = request.learning_rate;
  report.denominator_tokens = statistics.tokens;
  report.denominator_sequences = statistics.sequences;
  report.has_reference = request.algorithm->needs().reference;
  std::vector<RolloutRecord> records;
  const SliceRange range = sum_.range();
  for (int slice = range.first; slice < range.last; ++slice) {
    weights_.bind_gradients(sum_.begin_slice(stream_));
    for (const RolloutList& rollouts : plan.slice[static_cast<std::size_t>(slice)]) {
      run_micro_batch(request, statistics, rollouts, &records, &report);
      if (beat) beat();
    }
    sum_.end_slice(stream_);
  }
  sum_.finish(stream_, data_ranks, total_);
  weights_.fold_tied_gradient(stream_, total_);
  report.tokens_processed = data_ranks.sum(report.tokens_processed);
  summarise(records, data_ranks, &report);
  if (on_gradient) on_gradient(total_);

  const UpdateReport update = optimizer_.step(stream_, total_, request.learning_rate);
  report.gradient_norm = update.gradient_norm;
  report.update_norm = update.update_norm;
  report.skipped = update.skipped;
  if (update.skipped && update.gradient_norm != 0 && request.on_not_finite == StepRequest::OnNotFinite::stop) {
    throw Error(
        ExitCode::numeric,
        Fault{"",
              fmt::format("the gradient of optimizer step {} is not finite (norm {})", optimizer_.steps() + 1,
                          update.gradient_norm),
              "finite numbers; the weights are those before the step",
              "a smaller learning_rate, or [run] skip_limit to leave out such steps; the newest checkpoint is good"});
  }
  if (!update.skipped) policy_.pack_weights();
  return report;
}

void Trainer::reset_optimizer() {
  ops::fill(stream_, optimizer_.first_moment(), 0.0f);
  ops::fill(stream_, optimizer_.second_moment(), 0.0f);
  optimizer_.set_steps(0);
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

void Trainer::run_micro_batch(const StepRequest& request, const StepStatistics& statistics, const RolloutList& rollouts,
                              std::vector<RolloutRecord>* records, StepReport* report) {
  const MicroBatch batch = build_micro_batch(request.experiences, rollouts);
  report->tokens_processed += batch.batch.tokens();
  std::vector<float> log_prob(batch.row.size()), entropy(batch.row.size());
  policy_.forward(batch.batch);
  policy_.score(HeadTargets{batch.row, batch.target}, request.inverse_temperature, log_prob, entropy);

  const std::vector<std::vector<float>> now = by_rollout(batch, log_prob), spread = by_rollout(batch, entropy);
  std::vector<std::vector<float>> d_log_prob, d_entropy;
  for (std::size_t first = 0; first < rollouts.size();) {
    const auto experience = [&](std::size_t r) -> const Experience& {
      return *request.experiences[static_cast<std::size_t>(rollouts[r])];
    };
    std::vector<TokenTerms> members;
    std::size_t last = first;
    for (; last < rollouts.size() && experience(last).rollout.group == experience(first).rollout.group; ++last)
      members.push_back(terms_of(experience(last), now[last], spread[last], request.policy_version));
    for (TokenLoss& loss : request.algorithm->group_loss(members, statistics)) {
      records->push_back(record_of(static_cast<std::int32_t>(rollouts[first++]), loss));
      d_log_prob.push_back(std::move(loss.d_log_prob));
      d_entropy.push_back(std::move(loss.d_entropy));
    }
    MAXPLUS_REQUIRE(first == last, "a loss a rollout");
  }
  policy_.backward(by_target(batch, d_log_prob), by_target(batch, d_entropy));
}

void Trainer::summarise(const std::vector<RolloutRecord>& mine, const Communicator& data_ranks,
                        StepReport* report) const {
  std::vector<RolloutRecord> all;
  const auto bytes = std::as_bytes(std::span<const RolloutRecord>(mine));
  for (const std::vector<std::byte>& part : data_ranks.gather_all(bytes)) {
    const std::size_t before = all.size();
    all.resize(before + part.size() / sizeof(RolloutRecord));
    if (!part.empty()) std::memcpy(static_cast<void*>(all.data() + before), part.data(), part.size());
  }
  std::sort(all.begin(), all.end(),
            [](const RolloutRecord& a, const RolloutRecord& b) { return a.rollout < b.rollout; });

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
