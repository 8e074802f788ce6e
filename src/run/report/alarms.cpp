// A rule is a row: name, test, advice. What a test means is in alarm_tests.
#include "run/report/alarms.hpp"

#include <fmt/format.h>

#include "base/strings.hpp"
#include "run/report/alarm_tests.hpp"

namespace maxplus {

const std::vector<AlarmRule>& alarm_rules() {
  static const std::vector<AlarmRule> rules = {
      {"sampler_disagrees", ever_above_on_policy("log_prob_gap_max", 0.01),
       "drawing and training compute different probabilities: compare `maxplus logprob` with rollouts.jsonl, try "
       "[model] compute = \"f32\""},
      {"first_ratio_low", ever_below_on_policy("first_ratio_min", 0.99),
       "before the first update every ratio is 1: tokens were drawn by other weights, or at another temperature"},
      {"first_ratio_high", ever_above_on_policy("first_ratio_max", 1.01),
       "before the first update every ratio is 1: tokens were drawn by other weights, or at another temperature"},
      {"entropy_collapse", unless_solved(falls_below("entropy_mean", 0.1)),
       "the policy stopped exploring: a larger clip_high, a smaller learning rate, entropy_coefficient, or more "
       "varied problems"},
      {"entropy_rise", entropy_rises(),
       "the policy turns to noise: a smaller learning rate, a smaller entropy_coefficient, a KL term"},
      {"truncated", end_above({"truncated_share"}, 0.3),
       "answers are cut before they end: a larger max_new_tokens, overlong_penalty or mask_truncated"},
      {"eval_truncated", end_above({"eval_truncated_share"}, 0.3),
       "held-out answers are cut, and count as wrong: a larger [eval] max_new_tokens"},
      {"no_answer", end_share_of_rollouts_above("verdict_no_answer", 0.5),
       "the judge finds no answer: read rollouts in the report, state the wanted form in the prompt, try `maxplus "
       "score`"},
      {"zero_spread", unless_solved(end_above({"groups_zero_spread_share"}, 0.8)),
       "most groups teach nothing, all right or all wrong: other problems, larger groups, zero_spread = \"resample\""},
      {"clipped", end_above({"clip_share_low", "clip_share_high"}, 0.3),
       "the clip removes much of the gradient: a smaller learning rate, fewer epochs or mini_batches"},
      {"kl_from_sampler", end_above({"kl_old"}, 0.1),
       "an iteration moves the policy far: a smaller learning rate, fewer epochs, a smaller gradient_clip"},
      {"drift_grows", drift_rises(),
       "the policy moves away from the versions that draw for it: a smaller max_staleness or learning rate, "
       "decoupled_ppo with truncated_importance_cap"},
      {"kl_from_reference", end_above({"kl_reference"}, 1),
       "the policy is far from its reference: a larger kl_coefficient, if it should stay near it"},
      {"few_effective_samples", end_below("effective_sample_share", 0.3),
       "few tokens carry the gradient: fewer updates an iteration (epochs, mini_batches), truncated_importance_cap"},
      {"gradient_spikes", spikes_above("gradient_norm", 10),
       "single steps are far out of line: gradient_clip, a smaller learning rate, a longer warm-up"},
      {"steps_skipped", unless_solved(iterations_above("steps_skipped", 0.1)),
       "updates had no gradient, or one that is not finite: see zero_spread; else a smaller learning rate"},
      {"only_wrong_answers_grow", only_wrong_answers_grow(),
       "length is no thought here: aggregation = \"sequence_sum_constant\" or \"token_mean\", overlong_penalty"},
      {"length_collapse", falls_below("response_length_mean", 0.25),
       "answers shrink to a fraction: look for a reward that short answers get, or a KL term"},
      {"reward_without_accuracy", reward_rises_accuracy_falls(),
       "the reward is learnt, not the task: read the best rollouts, close the hole in the verifier, stop "
       "earlier"},
      {"reward_lost", reward_is_lost(),
       "training broke down: go back to a checkpoint before it, with a smaller learning rate"},
      {"critic_useless", end_below("explained_variance", 0),
       "values are worse than their mean: more value_iterations, another [critic] learning_rate"},
      {"judge_crashed", share_of_rollouts_above("verdict_crashed", 0.001),
       "the judge itself fails, these rollouts are left out: see log.txt, try the answers with `maxplus score`"},
      {"gold_unusable", share_of_rollouts_above("verdict_gold_unusable", 0.001),
       "problems whose own answer cannot be read: mend them, or another verifier; `maxplus score --help` has the "
       "forms"},
      {"timed_out", share_of_rollouts_above("verdict_timed_out", 0.01),
       "answers exceed the judge's time and count as wrong: a larger [reward] timeout_s, more workers"},
      {"slow_tail", end_above({"tail_share"}, 0.6),
       "most of the drawing time waits for a few long answers: a smaller max_new_tokens, larger batches of rollouts"},
      {"memory_grows", memory_grows(),
       "the run may end for want of memory: shorter answers, more ranks; report a leak"},
  };
  return rules;
}

std::string Alarm::line() const {
  return fmt::format("alarm: {}: run '{}', iteration {:.0f}: {}; {}", rule->name, one_line(run), finding.iteration,
                     finding.text, rule->advice);
}

std::vector<Alarm> alarms_of(const RunRecord& run) {
  std::vector<Alarm> alarms;
  for (const AlarmRule& rule : alarm_rules()) {
    if (std::optional<Finding> finding = rule.test.find(run)) alarms.push_back({run.name, &rule, std::move(*finding)});
  }
  return alarms;
}

std::string alarms_markdown() {
  std::string text = "| alarm | when | advice |\n|---|---|---|\n";
  for (const AlarmRule& rule : alarm_rules())
    text += fmt::format("| `{}` | {} | {} |\n", rule.name, rule.test.condition, rule.advice);
  return text;
}

}  // namespace maxplus
