#include "run/metric_table.hpp"

#include <fmt/format.h>

#include "base/strings.hpp"

namespace maxplus {

namespace {

constexpr Metric kMetrics[] = {
    {"schema", "", "version of the line's form: 1", "", ""},
    {"phase", "",
     "\"warm_start\" on lines of the supervised warm start, \"value\" on updates of the critic alone; absent elsewhere",
     "", ""},
    {"iteration", "", "rounds of generation, assessment and training, from 1; 0: the state after the warm start",
     "training/global_step", "step"},
    {"step", "", "optimizer steps so far, without the warm start", "", "step"},
    {"stage", "", "stage of the warm start, from 1", "", ""},
    {"stage_step", "", "step within the warm start, from 1", "", ""},
    {"epoch", "", "pass over the iteration's rollouts, from 1", "", ""},
    {"mini_batch", "", "mini-batch of the pass, from 1", "", ""},
    {"policy_version", "", "weight hand-offs published", "", ""},
    {"time_unix", "s", "wall clock when the line was written", "", ""},
    {"elapsed_s", "s", "running time so far, over resumes, warm start included", "", ""},
    {"ranks", "", "MPI ranks", "", ""},
    {"nodes", "", "machines", "", ""},
    {"sandbox", "",
     "weakest tier that judged programs ran in: \"namespaces\", \"landlock\" or \"none\"; absent where none ran", "",
     ""},
    {"problems", "", "problems asked for the first time or anew in this iteration", "", ""},
    {"rollouts", "", "answers that ended and were judged in this iteration", "", ""},
    {"tokens_generated", "tokens", "drawn for this iteration, those of parked rollouts included", "", ""},
    {"tokens_trained", "tokens", "trainable tokens over all updates of this iteration", "", ""},
    {"tokens_processed", "tokens", "rows that went through the network, in drawing and in training",
     "perf/total_num_tokens", "num_tokens"},
    {"decode_steps", "", "in which rows were decoded for this iteration, of the rank that took most", "", ""},
    {"reward_mean", "", "mean raw reward of the rollouts whose verdict counts (not gold_unusable, not crashed)",
     "critic/score/mean", "reward"},
    {"reward_std", "", "their standard deviation, divided by n", "", "reward_std (mean over groups there)"},
    {"reward_min", "", "their least reward", "critic/score/min", ""},
    {"reward_max", "", "their largest reward", "critic/score/max", ""},
    {"reward_part_<name>_mean", "", "mean of one part of the reward, before its weight", "", "rewards/<name>/mean"},
    {"reward_part_<name>_std", "", "standard deviation of that part, divided by n", "", "rewards/<name>/std"},
    {"accuracy", "", "correct / (rollouts - gold_unusable - crashed)", "", ""},
    {"accuracy_<source>", "", "the same of one of several [[data.source]]", "", ""},
    {"eval_accuracy", "", "share of held-out problems answered rightly by greedy decoding",
     "val-core/<data>/acc/mean@1", ""},
    {"eval_accuracy_low", "", "lower end of its interval of 95 % (Wilson)", "", ""},
    {"eval_accuracy_high", "", "upper end", "", ""},
    {"eval_accuracy_within_<n>", "",
     "greedy accuracy if answers of more than n tokens count as wrong ([eval] token_budgets)", "", ""},
    {"eval_majority_at_<k>", "", "share of problems whose most frequent answer among k samples is right",
     "val-core/<data>/acc/maj@<k>/mean", ""},
    {"eval_accuracy_sampled", "", "mean share of right answers among samples at the evaluation's temperature",
     "val-core/<data>/acc/mean@<k>", ""},
    {"eval_preference_accuracy", "", "share of held-out pairs whose chosen answer is worth more to the rule", "",
     "eval_rewards/accuracies"},
    {"eval_problems", "", "held-out problems asked", "", ""},
    {"eval_samples", "", "samples drawn a held-out problem", "", ""},
    {"eval_response_length_mean", "tokens", "mean length of greedy answers to held-out problems", "", ""},
    {"eval_truncated_share", "", "share of greedy answers that ended at the length limit", "", ""},
    {"eval_pass_at_<k>", "", "unbiased estimate that one of k samples is right", "val-core/<data>/acc/best@<k>/mean",
     ""},
    {"verdict_correct", "", "rollouts judged right", "", ""},
    {"verdict_wrong", "", "rollouts judged wrong", "", ""},
    {"verdict_no_answer", "", "rollouts in which no answer was found", "", ""},
    {"verdict_gold_unusable", "", "problems whose own answer could not be read; left out of training", "", ""},
    {"verdict_timed_out", "", "judged answers that exceeded their time limit; not correct", "", ""},
    {"verdict_crashed", "", "faults of the judge itself; left out of training", "", ""},
    {"prompt_length_mean", "tokens", "mean prompt length over rollouts", "prompt_length/mean", ""},
    {"response_length_mean", "tokens", "mean response length, stop token included", "response_length/mean",
     "completions/mean_length"},
    {"response_length_min", "tokens", "shortest response", "response_length/min", "completions/min_length"},
    {"response_length_max", "tokens", "longest response", "response_length/max", "completions/max_length"},
    {"response_length_correct_mean", "tokens", "mean length of right answers", "", ""},
    {"response_length_wrong_mean", "tokens", "mean length of all other answers whose verdict counts", "", ""},
    {"truncated_share", "", "share of rollouts that ended at a length or token limit", "response_length/clip_ratio",
     "completions/clipped_ratio"},
    {"loss", "", "what is minimised; near 0 on the first on-policy step, where the gradient norm tells more", "",
     "loss"},
    {"policy_loss", "", "policy term without KL and entropy", "actor/pg_loss", ""},
    {"kl_loss", "", "KL term of the loss, before its coefficient", "actor/kl_loss", ""},
    {"preference_accuracy", "",
     "share of the step's pairs whose chosen answer is worth more to the rule than the rejected one", "",
     "rewards/accuracies"},
    {"preference_margin", "", "mean of what the rule compares of a pair, chosen less rejected", "", ""},
    {"entropy_mean", "nats", "mean entropy of the policy over trainable tokens", "actor/entropy", "entropy"},
    {"value_loss", "", "loss of the critic, before value_coefficient", "critic/vf_loss", "val/loss"},
    {"explained_variance", "",
     "1 - variance of (target - value) / variance of the target, over trainable tokens, with the values before the "
     "iteration's first update; absent where all targets are equal",
     "critic/vf_explained_var", ""},
    {"value_clip_share", "", "share of trainable tokens whose value lost its gradient to value_clip",
     "critic/vf_clipfrac", "val/clipfrac_avg"},
    {"critic_gradient_norm", "", "L2 norm of the critic's gradient before clipping; of a critic with its own network",
     "critic/grad_norm", ""},
    {"critic_update_norm", "", "L2 norm of the change of its weights", "", ""},
    {"critic_learning_rate", "", "of its last update", "critic/lr", ""},
    {"denominator_tokens", "tokens",
     "the step's trainable tokens (supervised: the sum of weights) by which sums are divided", "", ""},
    {"denominator_sequences", "", "the step's rollouts by which sums are divided", "", ""},
    {"ratio_min", "",
     "least probability ratio of a trainable token, policy now / when drawn (at the start of the iteration where the "
     "algorithm has proximal), over all updates",
     "", "sampling/importance_sampling_ratio/min"},
    {"ratio_max", "", "largest such ratio", "", "sampling/importance_sampling_ratio/max"},
    {"ratio_mean", "", "mean of such ratios", "", "sampling/importance_sampling_ratio/mean"},
    {"first_ratio_min", "", "least ratio at the first update, before it; 1 on policy", "", ""},
    {"first_ratio_max", "", "largest ratio at the first update, before it; 1 on policy", "", ""},
    {"clip_share_low", "", "share of trainable tokens whose gradient the clip removed because the ratio was too small",
     "actor/pg_clipfrac (both sides)", "clip_ratio/low_mean"},
    {"clip_share_high", "", "the same because the ratio was too large", "actor/pg_clipfrac (both sides)",
     "clip_ratio/high_mean"},
    {"kl_old", "nats", "mean k3 of the policy now against when drawn, over trainable tokens", "actor/ppo_kl (k1 there)",
     ""},
    {"kl_reference", "nats", "mean k3 of the policy now against the reference", "", "kl"},
    {"kl_coefficient", "", "weight of the KL term in this iteration, where kl_target moves it", "critic/kl_coeff", ""},
    {"importance_ratio_max", "", "largest ratio policy now / when drawn of a trainable token, before any truncation",
     "", ""},
    {"importance_truncated_share", "", "share of trainable tokens whose importance weight was truncated", "", ""},
    {"importance_masked_share", "", "share of trainable tokens whose importance weight a mask made 0", "", ""},
    {"effective_sample_share", "",
     "(sum)^2 / (tokens * sum of squares) of the ratios policy now / when drawn of an update; 1 on policy", "", ""},
    {"log_prob_gap_max", "nats", "largest |log-probability in the first update's forward - recorded by the sampler|",
     "training/rollout_probs_diff_max (of probabilities)", "sampling/sampling_logp_difference/max"},
    {"advantage_min", "", "least advantage of a trainable token", "critic/advantages/min", ""},
    {"advantage_max", "", "largest advantage of a trainable token", "critic/advantages/max", ""},
    {"groups", "", "groups judged", "", ""},
    {"groups_zero_spread_share", "", "share of groups in which all counting rewards are equal", "",
     "frac_reward_zero_std"},
    {"groups_dropped", "", "groups left out of training for want of spread, or as more than were wanted", "", ""},
    {"rollouts_dropped", "", "rollouts in them", "", ""},
    {"groups_parked", "",
     "groups that had been begun and not ended when the iteration was drawn ([schedule] token_budget, or staleness "
     "= \"bounded\")",
     "", ""},
    {"rollouts_parked", "", "their rollouts that go on in the next iteration", "", ""},
    {"groups_deferred", "",
     "problems that were begun and put on the list of long ones ([schedule] over_provision_problems)", "", ""},
    {"rollouts_surplus", "", "rollouts that were asked for and are not among the first ([schedule] over_provision_*)",
     "", ""},
    {"tokens_surplus", "tokens", "drawn in them before they were stopped; more where ranks know less of each other", "",
     ""},
    {"steps_skipped", "", "updates left out because the gradient was 0 everywhere, or not finite", "", ""},
    {"gradient_norm", "", "L2 norm of the gradient before clipping; over an iteration its mean", "actor/grad_norm",
     "grad_norm"},
    {"update_norm", "", "L2 norm of the change of the weights; over an iteration its mean", "", ""},
    {"learning_rate", "", "of the last update", "actor/lr", "learning_rate"},
    {"weights_hash", "", "xxh3-128 of the f32 master weights in byte order of their published names", "", ""},
    {"staleness_mean", "", "mean of (policy version trained - version a token was drawn with)", "", ""},
    {"staleness_max", "", "its largest value", "", ""},
    {"queue_depth_max", "", "groups that were drawn and not trained on when a training began, its own included", "",
     ""},
    {"seconds_iteration", "s", "of the iteration, evaluation and checkpoint left out", "timing_s/step", "step_time"},
    {"seconds_generation", "s",
     "busy drawing beside or before this training, where generation is ahead for a later iteration; maximum over ranks",
     "timing_s/gen", ""},
    {"seconds_assessment", "s", "busy judging and scoring, maximum over ranks", "timing_s/reward", ""},
    {"seconds_drawing", "s",
     "generation and judging, less what they did at the same time: from the first draw to the last verdict", "", ""},
    {"seconds_awaited", "s",
     "until all that is trained on had been drawn and judged, and, after its training, until drawing was interrupted "
     "and what had ended was judged; with bounded staleness ([schedule] staleness)",
     "", ""},
    {"seconds_scoring", "s", "the part of seconds_assessment that comes before training: reference and critic",
     "timing_s/ref", ""},
    {"seconds_training", "s", "busy with updates, maximum over ranks", "timing_s/update_actor", ""},
    {"seconds_weight_handoff", "s",
     "handing the new weights to ranks that generate and do not train; what drawing does not hide", "", ""},
    {"seconds_checkpoint", "s", "of the checkpoint written since the last line", "timing_s/save_checkpoint", ""},
    {"seconds_evaluation", "s", "of the evaluation in this line", "timing_s/testing", ""},
    {"seconds_communication", "s", "in communication calls, maximum over ranks", "", ""},
    {"idle_share_<role>", "",
     "share of the iteration in which the ranks of that role worked in none; of generator, actor and networks on ranks "
     "of their own",
     "", ""},
    {"tail_share", "", "share of generation time after 90 % of the rollouts had ended", "", ""},
    {"generation_tokens_per_s", "tokens/s", "drawn a second of seconds_generation, over all ranks", "", ""},
    {"training_tokens_per_s", "tokens/s", "rows trained a second of training, over all ranks",
     "perf/throughput (a device)", ""},
    {"memory_peak_bytes", "bytes", "largest resident memory of a rank", "perf/max_memory_allocated_gb", ""},
};

// "eval_pass_at_<k>" fits "eval_pass_at_8".
bool fits(std::string_view pattern, std::string_view name) {
  const std::size_t open = pattern.find('<');
  if (open == std::string_view::npos) return pattern == name;
  const std::string_view before = pattern.substr(0, open), after = pattern.substr(pattern.find('>') + 1);
  return name.size() > before.size() + after.size() && name.substr(0, before.size()) == before &&
         name.substr(name.size() - after.size()) == after && name.find('<') == std::string_view::npos;
}

std::string cell(std::string_view text) { return text.empty() ? "" : fmt::format("`{}`", text); }

}  // namespace

std::span<const Metric> metric_table() { return kMetrics; }

const Metric* find_metric(std::string_view name) {
  for (const Metric& metric : kMetrics) {
    if (fits(metric.name, name)) return &metric;
  }
  return nullptr;
}

std::string metrics_markdown() {
  std::string text =
      "# Metrics\n\n"
      "`metrics.jsonl` has one object an iteration, `updates.jsonl` one an optimizer step. Keys are flat, numbers are "
      "never\n"
      "strings, and a quantity that does not exist is absent, never 0. Where an iteration has several updates, its "
      "line holds the\n"
      "mean over them (weighted by trainable tokens for ratios, KL, entropy and clip shares), minima and maxima over "
      "all of them.\n"
      "A token is *trainable* if the policy drew it and it is trained on. k3 = exp(-d) + d - 1 with d the difference "
      "of\n"
      "log-probabilities.\n\n"
      "The columns verl and TRL name the nearest quantity of those trainers, as a help for reading; definitions may "
      "differ. This\n"
      "file is made from `src/run/metric_table.cpp`.\n\n"
      "| name | unit | meaning | verl | TRL |\n|---|---|---|---|---|\n";
  for (const Metric& m : kMetrics) {
    text += fmt::format("| `{}` | {} | {} | {} | {} |\n", m.name, m.unit, m.meaning, cell(m.verl), cell(m.trl));
  }
  return text +
         "\nKept for what no run tells yet: `seconds_communication_exposed`, `imbalance`, `bytes_<axis>`, "
         "`model_flops`, "
         "`flop_utilisation`,\n`energy_j`.\n";
}

}  // namespace maxplus
