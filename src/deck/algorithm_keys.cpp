// The listing of the keys of [algorithm].
#include "deck/keys.hpp"

namespace maxplus {

namespace {

using Facts = KeyFacts;
constexpr std::int64_t kMostIterations = 1'000'000'000;
constexpr std::int64_t kMostTokens = 16'777'216;  // of one sequence
constexpr const char* kPaper = "the algorithm's own";

}  // namespace

void visit(AlgorithmTable& t, KeyVisitor& v) {
  v.key(&t.name,
        Facts("name",
              "the learning rule; its defaults are its paper's. reinforce, grpo, dr_grpo, dapo, rloo, "
              "reinforce_pp, reinforce_pp_baseline, remax, gspo, cispo, sapo, maxrl, opmd, decoupled_ppo, "
              "m2po, ppo, vapo, sft; on a file of pairs or marked answers dpo, ipo, simpo, orpo, kto, reward_model; "
              "online_dpo"));
  v.key(&t.clip_low, Facts("clip_low", "the ratio is clipped at 1 - clip_low (cispo: absent is no lower bound)")
                         .within(0, 1)
                         .absent(kPaper));
  v.key(&t.clip_high, Facts("clip_high", "the ratio is clipped at 1 + clip_high").within(0, 1e6).absent(kPaper));
  v.key(&t.dual_clip, Facts("dual_clip", "bound of the loss at negative advantages").above(1, 1e6).absent(kPaper));
  v.key(&t.kl, Facts("kl", "estimator of the divergence from [reference]").one_of({"none", "k1", "k2", "k3"}));
  v.key(&t.kl_where, Facts("kl_where", "where the divergence counts").one_of({"loss", "reward"}).absent(kPaper));
  v.key(&t.kl_coefficient, Facts("kl_coefficient", "its weight").within(0, 1e6).absent(kPaper));
  v.key(&t.kl_target,
        Facts("kl_target",
              "divergence a token (kl_reference) to hold: the weight is multiplied after each iteration by "
              "1 + e min(rollouts / kl_horizon, 1), e = kl_reference / kl_target - 1 within +-0.2")
            .above(0, 1e6)
            .absent("the weight stays"));
  v.key(&t.kl_horizon, Facts("kl_horizon", "rollouts over which the weight follows").above(0, 1e12).absent("10000"));
  v.key(&t.rejection,
        Facts("rejection",
              "of sft: only drawn or recorded answers with a reward above 0 are imitated (rejection sampling)")
            .absent("false"));
  v.key(&t.std, Facts("std", "divide advantages by the standard deviation with n - 1, with n, or not")
                    .one_of({"n-1", "n", "none"})
                    .absent(kPaper));
  v.key(&t.scope, Facts("scope", "over what mean and deviation are taken").one_of({"group", "batch"}).absent(kPaper));
  v.key(&t.epsilon, Facts("epsilon", "added to the standard deviation").within(0, 1e6).absent(kPaper));
  v.key(&t.aggregation, Facts("aggregation", "how token losses become one")
                            .one_of({"token_mean", "sequence_mean", "sequence_sum_constant"})
                            .absent(kPaper));
  v.key(&t.aggregation_length,
        Facts("aggregation_length", "the constant of sequence_sum_constant; 1 is the plain sum over a rollout")
            .above(0, 1e12)
            .absent("max_new_tokens; where aggregation is absent too, the algorithm's own"));
  v.key(&t.ratio, Facts("ratio",
                        "probability ratio of a token, of the sequence (geometric mean), or the product over it. With "
                        "rloo it asks for the clipped ratio instead of the log-probability")
                      .one_of({"token", "sequence", "sequence_sum"})
                      .absent(kPaper));
  v.key(&t.proximal,
        Facts("proximal",
              "the policy that ratios are taken against: recomputed at the start of the iteration, interpolated from "
              "policy versions, or the one that drew the tokens. With the first two a token's loss is multiplied by "
              "the constant weight proximal / sampler")
            .one_of({"recompute", "interpolate", "behaviour"})
            .absent("recompute if a cap or mask of weights is given, else the algorithm's own"));
  v.key(&t.truncated_importance_cap,
        Facts("truncated_importance_cap", "largest weight proximal / sampler").above(0, 1e6).absent("none"));
  v.key(&t.importance_mask,
        Facts("importance_mask",
              "weights outside [importance_low, importance_high] become 0: of a token, or of a whole rollout by the "
              "geometric mean of its weights")
            .one_of({"none", "token", "sequence"})
            .absent("none"));
  v.key(&t.importance_low, Facts("importance_low", "of importance_mask").within(0, 1).absent("0.5"));
  v.key(&t.importance_high, Facts("importance_high", "of importance_mask").within(1, 1e6).absent("5"));
  v.key(&t.sapo_tau_positive,
        Facts("sapo_tau_positive", "of sapo: steepness of the gate for positive advantages").above(0, 1e3).absent("1"));
  v.key(&t.sapo_tau_negative,
        Facts("sapo_tau_negative", "of sapo: for the other advantages").above(0, 1e3).absent("1.05"));
  v.key(&t.opmd_tau,
        Facts("opmd_tau", "of opmd: weight of the squared log-ratio of a rollout").within(0, 1e6).absent("1"));
  v.key(&t.m2_threshold, Facts("m2_threshold", "of m2po: largest mean squared log-ratio of the tokens that are trained")
                             .within(0, 1e6)
                             .absent("0.04"));
  v.key(&t.beta,
        Facts("beta",
              "of dpo, ipo, kto, online_dpo: weight of the divergence from [reference]; of simpo: steepness; of "
              "orpo: weight of the odds (lambda)")
            .above(0, 1e6)
            .absent("simpo 2, else 0.1"));
  v.key(&t.label_smoothing,
        Facts("label_smoothing",
              "of dpo, online_dpo, reward_model: share of pairs that are taken to be the wrong way round")
            .within(0, 0.5)
            .absent("0"));
  v.key(&t.margin, Facts("margin", "of simpo and reward_model: by how much the chosen answer is to lead")
                       .within(0, 1e6)
                       .absent("1; 0 of reward_model"));
  v.key(&t.length_mean,
        Facts("length_mean", "of ipo: log-ratios as means over an answer's tokens, not as sums").absent("true"));
  v.key(&t.desirable_weight, Facts("desirable_weight", "of kto: weight of good answers").within(0, 1e6).absent("1"));
  v.key(&t.undesirable_weight, Facts("undesirable_weight", "of kto: weight of bad answers").within(0, 1e6).absent("1"));
  v.key(&t.gamma, Facts("gamma", "with a critic: discount a token").within(0, 1).absent(kPaper));
  v.key(
      &t.lambda,
      Facts("lambda", "with a critic: of GAE, for advantages and for the value's target").within(0, 1).absent(kPaper));
  v.key(&t.lambda_length,
        Facts("lambda_length",
              "with a critic: a, where the lambda of advantages is 1 - 1 / (a T) of a rollout of T trainable tokens")
            .above(0, 1e6)
            .absent(kPaper));
  v.key(
      &t.value_clip,
      Facts("value_clip", "with a critic: how far a value may move in an iteration without losing its gradient; 0: off")
          .within(0, 1e6)
          .absent(kPaper));
  v.key(&t.value_coefficient,
        Facts("value_coefficient", "with [critic] shared: weight of the value's loss").within(0, 1e6).absent(kPaper));
  v.key(&t.value_iterations,
        Facts("value_iterations", "with a critic of its own: iterations at the start in which it alone learns")
            .from(0, kMostIterations)
            .absent(kPaper));
  v.key(&t.positive_coefficient,
        Facts("positive_coefficient", "with a critic: weight of the likelihood of correct rollouts")
            .within(0, 1e6)
            .absent(kPaper));
  v.key(&t.dynamic_sampling,
        Facts("dynamic_sampling", "the same as zero_spread = \"resample\" in [generation]").absent(kPaper));
  v.key(&t.overlong_limit, Facts("overlong_limit", "tokens: the length at which the penalty is reached")
                               .from(1, kMostTokens)
                               .absent("max_new_tokens"));
  v.key(&t.overlong_buffer, Facts("overlong_buffer", "tokens before overlong_limit over which the penalty grows")
                                .from(0, kMostTokens)
                                .absent(kPaper));
  v.key(&t.overlong_penalty,
        Facts("overlong_penalty", "taken from the reward of too long an answer").within(0, 1e6).absent(kPaper));
  v.key(&t.mask_truncated,
        Facts("mask_truncated", "answers cut at max_new_tokens take no part in the loss").absent(kPaper));
  v.key(&t.entropy_coefficient,
        Facts("entropy_coefficient", "weight of an entropy bonus").within(-1e6, 1e6).absent(kPaper));
}

}  // namespace maxplus
