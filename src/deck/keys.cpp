// The listing of every key: a new key is a field in tables.hpp and a line here (of [data]: in data_keys.cpp).
#include "deck/keys.hpp"

#include <type_traits>

#include "deck/data_keys.hpp"

namespace maxplus {

namespace {

using Facts = KeyFacts;
constexpr std::int64_t kMany = 1'000'000'000;  // counts of steps, iterations, tokens of a batch
constexpr std::int64_t kLong = 16'777'216;     // tokens of one sequence
constexpr std::int64_t kWide = 1'048'576;      // extents of a network
constexpr std::int64_t kAny = std::numeric_limits<std::int64_t>::max();
constexpr double kLongTime = 1e9;

void visit(RunTable& t, KeyVisitor& v) {
  v.key(&t.seed, Facts("seed", "every random draw is a function of it and of counters").from(0, kAny));
  v.key(&t.iterations,
        Facts("iterations", "the total; schedules run over it; 0: the warm start alone").from(0, kMany).may_grow());
  v.key(&t.stop_after,
        Facts("stop_after", "end cleanly (exit 0) after so many iterations, changing nothing else; 0: never")
            .from(0, kMany)
            .may_change());
  v.key(&t.out, Facts("out", "run folder: new, empty, or one to resume").path(PathKind::output).may_change());
  v.key(&t.resume,
        Facts("resume", "auto: from the newest checkpoint of `out` if there is one; never; or the path of a checkpoint")
            .path(PathKind::input)
            .unless({"auto", "never"})
            .may_change());
  v.key(&t.wall_limit_min,
        Facts("wall_limit_min", "save and exit 75 before so many minutes have passed; 0: ask the scheduler, else none")
            .within(0, kLongTime)
            .may_change());
  v.key(&t.checkpoint_every,
        Facts("checkpoint_every", "iterations between checkpoints; the last one is always saved; 0: only the last")
            .from(0, kMany)
            .may_change());
  v.key(&t.keep_checkpoints,
        Facts("keep_checkpoints", "how many of the newest checkpoints are kept").from(1, kMany).may_change());
  v.key(&t.on_checkpoint_error, Facts("on_checkpoint_error", "what to do when a checkpoint cannot be written")
                                    .one_of({"stop", "continue"})
                                    .may_change());
  v.key(&t.verify_checkpoint,
        Facts("verify_checkpoint", "what is read back before a checkpoint counts: one random shard a rank, or all")
            .one_of({"sample", "full"})
            .may_change());
  v.key(&t.threads,
        Facts("threads", "a rank's team of threads on the host backend; changes no bit").from(1, 4096).may_change());
  v.key(&t.watchdog_s, Facts("watchdog_s", "no progress for so long: name the culprit and end (exit 75)")
                           .above(0, kLongTime)
                           .may_change());
  v.key(&t.log_rollouts, Facts("log_rollouts", "which iterations write their rollouts: all, \"every k\", or none")
                             .one_of({"all", "none"})
                             .or_every_k()
                             .may_change());
  v.key(&t.skip_limit,
        Facts("skip_limit",
              "steps in a row whose gradient is not finite that may be skipped before the run ends (exit 79)")
            .from(0, kMany));
  v.key(&t.no_signal_limit,
        Facts("no_signal_limit", "iterations in a row without a trained token before an explained end; 0: never")
            .from(0, kMany));
}

void visit(ModelTable& t, KeyVisitor& v) {
  v.key(&t.path,
        Facts("path",
              "published folder or checkpoint; without it a network of the shape below starts from random weights")
            .path(PathKind::input)
            .absent("a shape"));
  v.key(&t.family, Facts("family", "of a shape: the kind of network: llama, qwen2, qwen3, mistral or gemma2"));
  v.key(&t.width, Facts("width", "of a shape: the residual stream").from(1, kWide).absent("the file's"));
  v.key(&t.layers, Facts("layers", "of a shape: blocks").from(1, 65536).absent("the file's"));
  v.key(&t.heads, Facts("heads", "of a shape: query heads").from(1, 65536).absent("the file's"));
  v.key(&t.kv_heads, Facts("kv_heads", "of a shape: key and value heads; divides heads")
                         .from(1, 65536)
                         .absent("the file's, or heads"));
  v.key(&t.head_width,
        Facts("head_width", "of a shape: elements of a head").from(1, 65536).absent("the file's, or width / heads"));
  v.key(
      &t.ffn_width,
      Facts("ffn_width", "of a shape: the inner extent of the feed-forward part").from(1, kWide).absent("the file's"));
  v.key(&t.context,
        Facts("context", "of a shape: the longest sequence, prompt and answer together, in tokens").from(2, kLong));
  v.key(&t.tie_embeddings, Facts("tie_embeddings", "of a shape: one matrix for embedding and head"));
  v.key(&t.window, Facts("window",
                         "of a shape: positions that a token sees, itself included, in the layers of its family that "
                         "have a sliding window (mistral, qwen2, qwen3: all; gemma2: every second)")
                       .from(1, kLong)
                       .absent("the file's, or the family's"));
  v.key(&t.norm_epsilon,
        Facts("norm_epsilon", "of a shape: epsilon of RMSNorm").above(0, 1).absent("the file's, or the family's"));
  v.key(&t.rotary_theta, Facts("rotary_theta", "of a shape: base of the rotary frequencies")
                             .above(0, 1e12)
                             .absent("the file's, or the family's"));
  v.key(
      &t.compute,
      Facts("compute", "precision of matrix products; master weights and sums are always f32").one_of({"f32", "bf16"}));
}

void visit(TokenizerTable& t, KeyVisitor& v) {
  v.key(&t.kind, Facts("kind", "for a shape from scratch; ids from 0 in the order written, then <eos>")
                     .one_of({"characters", "words"})
                     .absent("path, or the model's"));
  v.key(&t.alphabet, Facts("alphabet", "of characters: the code points").absent("none"));
  v.key(&t.words, Facts("words", "of words: separated by white space, joined by one blank").absent("none"));
  v.key(
      &t.path,
      Facts("path", "a tokenizer.json, a folder with one, or a GGUF file").path(PathKind::input).absent("the model's"));
  v.key(&t.end_token, Facts("end_token", "of path: the text of the token that ends an answer").absent("the file's"));
  v.key(&t.chat_template,
        Facts("chat_template",
              "how prompts are written. auto: the model's template, which must be a known one; raw: as they are; "
              "literal: with the prefixes and suffixes below")
            .one_of({"auto", "raw", "literal", "chatml", "smollm2", "qwen2.5", "qwen3", "llama3", "llama3.1",
                     "deepseek-r1"}));
  v.key(&t.thinking, Facts("thinking", "of qwen3: false puts an empty thought before each answer"));
  v.key(&t.chat_date, Facts("chat_date", "of llama3.1: the date that its system turn names"));
  v.key(&t.chat_begin, Facts("chat_begin", "of literal: what a conversation begins with"));
  v.key(&t.chat_system, Facts("chat_system", "of literal: what stands before and behind a system message"));
  v.key(&t.chat_user, Facts("chat_user", "of literal: what stands before and behind a user's message"));
  v.key(&t.chat_assistant, Facts("chat_assistant", "of literal: what stands before and behind an answer"));
  v.key(&t.chat_generation, Facts("chat_generation",
                                  "of literal: what asks for an answer; empty: the first of "
                                  "chat_assistant"));
}

void visit(RewardTable& t, KeyVisitor& v) {
  v.key(&t.verifier,
        Facts("verifier", "the judge of an answer; its own keys stand in this table. For several use [[reward.part]]")
            .absent("the parts, or the problem's"));
  v.key(&t.timeout_s, Facts("timeout_s", "deadline of one judgement").above(0, kLongTime));
  v.key(&t.workers, Facts("workers", "judgements at once on a rank").from(1, 4096));
}

void visit(RewardPart& t, KeyVisitor& v) {
  v.key(&t.verifier,
        Facts("verifier", "the judge of this part; its own keys stand beside it").absent("none: an error"));
  v.key(&t.weight, Facts("weight", "of this part in the sum").within(-1e6, 1e6));
}

void visit(GenerationTable& t, KeyVisitor& v) {
  v.key(&t.problems_per_iteration, Facts("problems_per_iteration", "groups of an iteration").from(1, kMany));
  v.key(&t.group_size, Facts("group_size", "rollouts of one problem").from(1, 65536));
  v.key(&t.temperature, Facts("temperature", "of sampling; log-probabilities are recorded at it").within(0, 1000));
  v.key(&t.top_p, Facts("top_p", "keep the likeliest tokens up to this mass; 1: off. Refused in training").above(0, 1));
  v.key(&t.top_k, Facts("top_k", "keep the k likeliest tokens; 0: off. Refused in training").from(0, kLong));
  v.key(&t.max_new_tokens, Facts("max_new_tokens", "the longest answer, stop token included").from(1, kLong));
  v.key(&t.stop, Facts("stop", "token texts that end an answer; empty: the tokenizer's end token"));
  v.key(&t.force_length,
        Facts("force_length", "for benchmarks: every rollout has so many tokens; 0: off").from(0, kLong));
  v.key(
      &t.force_length_sigma,
      Facts("force_length_sigma",
            "of force_length: lengths are lognormal with this sigma about that median, at most max_new_tokens; 0: all "
            "the same")
          .within(0, 10));
  v.key(&t.force_length_shared,
        Facts("force_length_shared",
              "of force_length_sigma: share of the variance (of the logarithm) that all rollouts of a problem have in "
              "common; 0: each has a length of its own")
            .within(0, 1));
  v.key(&t.batch_rollouts, Facts("batch_rollouts", "rows decoded together on a rank; changes no bit").from(1, 65536));
  v.key(&t.compute,
        Facts("compute",
              "precision of the matrix products that draw; other than [model]'s: from a copy of the weights, which "
              "recorded log-probabilities belong to")
            .one_of({"f32", "bf16"})
            .absent("[model]'s"));
  v.key(&t.dispatch,
        Facts("dispatch",
              "which groups begin first, and on which rank: in order and in turns, or those first that are expected to "
              "be longest, by the lengths of earlier answers to the same problem; changes no bit")
            .one_of({"order", "longest_first"})
            .may_change());
  v.key(&t.zero_spread, Facts("zero_spread", "groups whose rewards are all equal: keep, drop, or drop and draw others")
                            .one_of({"keep", "drop", "resample"}));
  v.key(&t.resample_rounds,
        Facts("resample_rounds", "of zero_spread = \"resample\": at most so many rounds, then train on what there is")
            .from(1, 10000));
}

void visit(OptimizerTable& t, KeyVisitor& v) {
  v.key(&t.learning_rate, Facts("learning_rate", "of AdamW, at its height").within(0, 1e3));
  v.key(&t.warmup_steps, Facts("warmup_steps", "steps over which the rate rises linearly").from(0, kMany));
  v.key(&t.schedule, Facts("schedule", "of the rate after the rise").one_of({"constant", "linear", "cosine"}));
  v.key(&t.final_share, Facts("final_share", "share of the rate that is left at the end").within(0, 1));
  v.key(&t.weight_decay, Facts("weight_decay", "decoupled; on matrices and embeddings only").within(0, 1e3));
  v.key(&t.beta1, Facts("beta1", "decay of the first moment").within(0, 0.9999999));
  v.key(&t.beta2, Facts("beta2", "decay of the second moment").within(0, 0.9999999));
  v.key(&t.epsilon, Facts("epsilon", "added to the root of the second moment").above(0, 1));
  v.key(&t.gradient_clip, Facts("gradient_clip", "largest norm of the gradient; 0: off").within(0, 1e12));
  v.key(&t.epochs, Facts("epochs", "passes over the rollouts of an iteration").from(1, 10000));
  v.key(&t.mini_batches, Facts("mini_batches", "optimizer steps a pass; groups stay whole").from(1, kMany));
  v.key(&t.micro_batch_tokens,
        Facts("micro_batch_tokens", "tokens of one forward and backward; bounds memory").from(1, kMany));
  v.key(&t.gradient_slices, Facts("gradient_slices",
                                  "a power of two: gradients are summed in so many slices, so that any number of ranks "
                                  "up to it gives the same bits")
                                .from(1, 65536));
}

void visit(WarmStartTable& t, KeyVisitor& v) {
  v.key(
      &t.train,
      Facts("train", "demonstrations, an object with prompt and response a line").path(PathKind::input).absent("task"));
  v.key(&t.task, Facts("task", "demonstrations of a built-in task; its own keys stand in this table").absent("train"));
  v.key(&t.steps, Facts("steps", "supervised steps in total").from(0, kMany));
  v.key(&t.batch_tokens, Facts("batch_tokens", "tokens of a step").from(1, kMany));
  v.key(&t.learning_rate, Facts("learning_rate", "at its height").within(0, 1e3));
  v.key(&t.warmup_steps, Facts("warmup_steps", "steps over which the rate rises linearly").from(0, kMany));
  v.key(&t.schedule, Facts("schedule", "of the rate after the rise").one_of({"constant", "linear", "cosine"}));
  v.key(&t.final_share, Facts("final_share", "share of the rate that is left at the end").within(0, 1));
}

void visit(WarmStartStage& t, KeyVisitor& v) {
  constexpr const char* kTable = "[warm_start]'s";
  v.key(&t.share, Facts("share", "of the steps, against the other stages").above(0, kLongTime));
  v.key(&t.learning_rate, Facts("learning_rate", "of this stage").within(0, 1e3).absent(kTable));
  v.key(&t.batch_tokens, Facts("batch_tokens", "of this stage").from(1, kMany).absent(kTable));
  v.key(&t.warmup_steps, Facts("warmup_steps", "of this stage").from(0, kMany).absent(kTable));
  v.key(&t.final_share, Facts("final_share", "of this stage").within(0, 1).absent(kTable));
}

void visit(EvalTable& t, KeyVisitor& v) {
  v.key(&t.every, Facts("every", "iterations between evaluations; 0: never").from(0, kMany).may_change());
  v.key(&t.verifier, Facts("verifier", "what judges held-out answers")
                         .absent("the reward's; the task's where the reward is random")
                         .may_change());
  v.key(&t.problems, Facts("problems", "the first so many held-out problems; 0: all").from(0, kMany).may_change());
  v.key(&t.samples,
        Facts("samples", "answers drawn a problem besides the greedy one; 0: greedy only").from(0, 65536).may_change());
  v.key(&t.temperature, Facts("temperature", "of those samples").within(0, 1000).may_change());
  v.key(&t.max_new_tokens,
        Facts("max_new_tokens", "the longest answer; 0: that of [generation]").from(0, kLong).may_change());
  v.key(&t.token_budgets,
        Facts("token_budgets", "accuracy if answers may have so many tokens and longer ones count as wrong")
            .from(1, kLong)
            .may_change());
}

Facts kept_weights() {
  return Facts("weights",
               "how its layers' matrices are kept: f32, bf16, or q8_0 (8 bits, a scale for each 32); they are brought "
               "back "
               "layer by layer, and log.txt tells the error")
      .one_of({"f32", "bf16", "q8_0"});
}

void visit(EnvironmentTable&, KeyVisitor&) {}  // its keys are the environment's

void visit(ReferenceTable& t, KeyVisitor& v) {
  v.key(&t.path, Facts("path", "a model, or policy: the policy as it stands after the warm start")
                     .path(PathKind::input)
                     .unless({"policy"}));
  v.key(&t.weights, kept_weights());
  v.key(&t.refresh_every,
        Facts("refresh_every", "iterations after which the policy as it stands becomes the reference; 0: never")
            .from(0, kMany));
}

void visit(CriticTable& t, KeyVisitor& v) {
  v.key(&t.path, Facts("path",
                       "a network to start from (a classifier with one label, or a language model whose layers are "
                       "taken), or policy: the policy as it stands after the warm start")
                     .path(PathKind::input)
                     .unless({"policy"}));
  v.key(&t.shared, Facts("shared", "the value is a second head on the policy's own network"));
  v.key(&t.learning_rate,
        Facts("learning_rate", "of the critic, at its height").within(0, 1e3).absent("[optimizer]'s"));
  v.key(&t.warmup_steps,
        Facts("warmup_steps", "steps over which its rate rises linearly").from(0, kMany).absent("[optimizer]'s"));
  v.key(&t.weight_decay, Facts("weight_decay", "of the critic").within(0, 1e3).absent("[optimizer]'s"));
  v.key(&t.gradient_clip,
        Facts("gradient_clip", "largest norm of its gradient; 0: off").within(0, 1e12).absent("[optimizer]'s"));
}

void visit(RewardModelTable& t, KeyVisitor& v) {
  v.key(&t.path, Facts("path", "a classifier with one label and the policy's tokens").path(PathKind::input));
  v.key(&t.weight, Facts("weight", "of its score in the reward, beside what [reward] gives").within(-1e6, 1e6));
  v.key(&t.at,
        Facts("at",
              "where it is asked: answer, behind the last token; steps, behind every step too, and the reward is "
              "what combine makes of the scores")
            .one_of({"answer", "steps"}));
  v.key(&t.step_mark, Facts("step_mark", "the text that ends a step"));
  v.key(&t.combine, Facts("combine", "of at = \"steps\": the score of an answer from those of its steps")
                        .one_of({"min", "mean", "product", "last"}));
  v.key(&t.scale, Facts("scale", "raw: the scores as they are; sigmoid: from 0 to 1").one_of({"raw", "sigmoid"}));
  v.key(&t.weights, kept_weights());
}

void visit(PlacementTable& t, KeyVisitor& v) {
  constexpr const char* kRest = "the ranks that others leave; without any of them: all ranks";
  v.key(&t.generator, Facts("generator", "ranks that draw and judge rollouts").absent(kRest).may_change());
  v.key(&t.actor, Facts("actor", "ranks that train the policy").absent(kRest).may_change());
  v.key(&t.critic,
        Facts("critic", "ranks that train the critic, at the same time as the actor where it is not on theirs")
            .absent("the actor's")
            .may_change());
  v.key(&t.reference, Facts("reference", "ranks that score with the reference").absent("the actor's").may_change());
  v.key(&t.reward, Facts("reward", "ranks that score with the reward model").absent("the generator's").may_change());
}

void visit(ScheduleTable& t, KeyVisitor& v) {
  v.key(&t.granularity, Facts("granularity",
                              "what is judged at once: all rollouts of an iteration when they have been drawn, or each "
                              "group as soon as it has been, while others are drawn")
                            .one_of({"iteration", "group"})
                            .may_change());
  v.key(&t.max_staleness,
        Facts("max_staleness",
              "so many policy versions generation may be behind training: iteration k is drawn with the weights of "
              "k - 1 - max_staleness while older iterations are trained on; 0: on policy")
            .from(0, 1024));
  v.key(&t.staleness,
        Facts("staleness",
              "exact: every iteration is drawn with the version that max_staleness says, whatever the time; bounded: "
              "with the "
              "newest there is, at most max_staleness old, rollouts that are under way are interrupted for it")
            .one_of({"exact", "bounded"}));
  v.key(&t.weight_buffers,
        Facts("weight_buffers",
              "of ranks that only draw, ahead of training; 2: new weights come into a second one while they draw; 1: "
              "between two drawings, which saves its memory")
            .from(1, 2)
            .may_change());
  v.key(&t.token_budget,
        Facts("token_budget",
              "new tokens that a rollout gets in one iteration; one that has not ended then goes on in the next, with "
              "the newer weights; 0: no limit")
            .from(0, kLong));
  v.key(&t.over_provision_problems,
        Facts("over_provision_problems",
              "so many times problems_per_iteration are begun, and those trained on that are complete with the fewest "
              "tokens; the others are drawn anew later, in an iteration of their own; 1: off")
            .within(1, 16));
  v.key(
      &t.over_provision_rollouts,
      Facts("over_provision_rollouts",
            "so many times group_size are drawn of a problem, and the ones with the fewest tokens count; favours short "
            "answers; 1: off")
          .within(1, 16));
}

template <class Table>
void visit_table(DeckVisitor& visitor, Table& table, TableFacts facts, const ForeignKeys& foreign) {
  visitor.table(
      facts, [&table](KeyVisitor& keys) { visit(table, keys); }, foreign);
}

// A table that is there only if a deck names it.
template <class Table>
bool is_there(DeckVisitor& visitor, std::optional<Table>& table, const std::string& name) {
  if (!visitor.present(name, table.has_value())) {
    table.reset();
  } else if (!table) {
    table.emplace();
  }
  return table.has_value();
}

template <class Table>
void visit_optional(DeckVisitor& visitor, std::optional<Table>& table, TableFacts facts) {
  if (is_there(visitor, table, facts.name)) visit_table(visitor, *table, facts, {});
}

void visit_reward(RewardTable& reward, DeckVisitor& visitor) {
  visit_table(visitor, reward, {"reward", "how answers are judged"},
              {&reward.keys, [&reward] { return !reward.verifier.empty(); }, "the verifier"});
  reward.part.resize(visitor.entries("reward.part", reward.part.size()));
  for (std::size_t i = 0; i < reward.part.size(); ++i) {
    RewardPart& part = reward.part[i];
    visit_table(visitor, part,
                {"reward.part[" + std::to_string(i) + "]", "one of several judges; written [[reward.part]]"},
                {&part.keys, [&part] { return !part.verifier.empty(); }, "the verifier"});
  }
}

void visit_warm_start(std::optional<WarmStartTable>& warm_start, DeckVisitor& visitor) {
  if (!is_there(visitor, warm_start, "warm_start")) return;
  WarmStartTable& table = *warm_start;
  const auto has_task = [&table] { return !table.task.empty(); };
  visit_table(visitor, table, {"warm_start", "supervised steps before the loop"},
              {&table.task_keys, has_task, "the task"});
  table.stage.resize(visitor.entries("warm_start.stage", table.stage.size()));
  for (std::size_t i = 0; i < table.stage.size(); ++i) {
    visit_table(
        visitor, table.stage[i],
        {"warm_start.stage[" + std::to_string(i) + "]", "a part of the warm start; written [[warm_start.stage]]"},
        {&table.stage[i].task_keys, has_task, "the task"});
  }
}

}  // namespace

void visit(Deck& deck, DeckVisitor& visitor) {
  const ForeignKeys none;
  visitor.table(
      {"", "above the first table"},
      [&deck](KeyVisitor& v) { v.key(&deck.title, Facts("title", "what this deck is for").may_change()); }, none);
  visit_table(visitor, deck.run, {"run", "the run as a whole"}, none);
  visit_table(visitor, deck.model, {"model", "the policy: a path, or a shape to start from random weights"}, none);
  visit_table(visitor, deck.tokenizer, {"tokenizer", "where the model brings none, or brings another"}, none);
  visit_data(deck.data, visitor);
  visit_reward(deck.reward, visitor);
  visit_table(visitor, deck.generation, {"generation", "how answers are drawn"}, none);
  visit_table(visitor, deck.algorithm, {"algorithm", "how the policy learns from them"}, none);
  visit_table(visitor, deck.optimizer, {"optimizer", "AdamW and the cut of its steps"}, none);
  visit_warm_start(deck.warm_start, visitor);
  visit_table(visitor, deck.eval, {"eval", "accuracy on held-out problems"}, none);
  if (is_there(visitor, deck.environment, "environment")) {
    visit_table(visitor, *deck.environment, {"environment", "a program that answers calls in the middle of an answer"},
                {&deck.environment->keys, [] { return true; }, "the environment"});
  }
  visit_optional(visitor, deck.reference, {"reference", "the frozen network of the KL term; present only if needed"});
  visit_optional(visitor, deck.critic,
                 {"critic", "what is to be expected from every token on, for ppo and vapo; present only if needed"});
  visit_optional(visitor, deck.reward_model,
                 {"reward_model", "a network whose score of an answer is part of its reward; present only if needed"});
  visit_table(visitor, deck.placement, {"placement", "which ranks do what; absent: every rank does everything"}, none);
  visit_table(visitor, deck.schedule, {"schedule", "how far generation may run ahead of training"}, none);
}

}  // namespace maxplus
