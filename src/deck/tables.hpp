#pragma once
// The tables of a deck: one struct a table, one field a key (SURFACES: docs/deck.md is made from these by --describe).
//
// A table lists its keys once, in keys.cpp: name, field, range or choices, meaning. Reading, range checks, the
// effective deck, --describe and the checkpoint's record all come from that listing.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace maxplus {

struct RunTable {
  std::int64_t seed = 1;
  std::int64_t iterations = 200;
  std::int64_t stop_after = 0;
  std::string out = "runs/run";
  std::string resume = "auto";
  double wall_limit_min = 0;
  std::int64_t checkpoint_every = 50;
  std::int64_t keep_checkpoints = 2;
  std::string on_checkpoint_error = "stop";  // stop | continue
  std::string verify_checkpoint = "sample";  // sample | full
  std::int64_t threads = 1;
  double watchdog_s = 600;
  std::string log_rollouts = "all";  // all | "every k" | none
  std::int64_t skip_limit = 0;       // steps with a non-finite gradient that may be skipped in a row
  std::int64_t no_signal_limit = 0;  // iterations in a row without any trained token before an explained end; 0: never
};

struct ModelTable {
  std::string path;
  std::string family = "llama";
  std::int64_t width = 0, layers = 0, heads = 0, kv_heads = 0, head_width = 0, ffn_width = 0, context = 256;
  std::int64_t window = 0;  // 0: the family's
  bool tie_embeddings = true;
  double norm_epsilon = 0, rotary_theta = 0;  // 0: the family's
  std::string compute = "f32";                // f32 | bf16
};

struct TokenizerTable {
  std::string kind;  // characters | words
  std::string alphabet, words;
  std::string path;       // tokenizer.json, a folder with one, or a GGUF file
  std::string end_token;  // of path: the text of the token that ends an answer
  std::string chat_template = "auto";
  bool thinking = true;
  std::string chat_date = "26 Jul 2024", chat_begin, chat_generation;
  std::vector<std::string> chat_system, chat_user, chat_assistant;  // each a prefix and a suffix
};

struct DataSource {
  std::string name;   // empty: the task's, or the file's without its ending
  std::string train;  // JSONL file, or
  std::string task;   // built-in task
  nlohmann::json task_keys = nlohmann::json::object();
  double weight = 1;
  std::string preset, verifier;
};

struct DataTable {
  std::string train, eval;                                                   // JSONL files
  std::string task;                                                          // a built-in one
  nlohmann::json task_keys = nlohmann::json::object();                       // the task's own keys, checked by the task
  std::string prompt_key, answer_key, id_key, verifier_key, difficulty_key;  // empty: the usual, or the preset's
  std::string preset;
  std::string on_bad_line = "stop";      // stop | skip
  std::string on_contaminated = "warn";  // warn | drop | stop
  std::string order = "shuffled";        // shuffled | file | curriculum
  std::int64_t curriculum_window = 256;
  std::vector<DataSource> source;  // instead of train or task
};

struct RewardPart {
  std::string verifier;
  double weight = 1;
  nlohmann::json keys = nlohmann::json::object();  // the verifier's own keys
};

struct RewardTable {
  std::string verifier;                            // one verifier, or parts
  nlohmann::json keys = nlohmann::json::object();  // pattern, command, probability, ...: checked by the verifier
  std::vector<RewardPart> part;
  double timeout_s = 10;
  std::int64_t workers = 2;
};

struct EnvironmentTable {
  nlohmann::json keys = nlohmann::json::object();  // command, call_begin, ...: checked by the environment
};

struct GenerationTable {
  std::int64_t problems_per_iteration = 32;
  std::int64_t group_size = 8;
  double temperature = 1.0, top_p = 1.0;
  std::int64_t top_k = 0;
  std::int64_t max_new_tokens = 128;
  std::vector<std::string> stop;       // token texts; empty: the tokenizer's end token
  std::int64_t force_length = 0;       // benchmarks: every rollout has so many tokens
  double force_length_sigma = 0;       // their lengths: lognormal with this sigma about that median
  double force_length_shared = 0;      // share of the variance that rollouts of a problem have in common
  std::int64_t batch_rollouts = 64;    // rows decoded together on a rank
  std::optional<std::string> compute;  // f32 | bf16; absent: [model]'s
  std::string dispatch = "order";      // order | longest_first
  std::string zero_spread = "keep";    // keep | drop | resample
  std::int64_t resample_rounds = 4;    // of zero_spread = "resample" (dynamic sampling)
};

struct AlgorithmTable {
  std::string name = "grpo";
  std::optional<double> clip_low, clip_high, dual_clip;  // absent: the algorithm's own default
  std::string kl = "none";                               // none | k1 | k2 | k3
  std::optional<std::string> kl_where;                   // loss | reward
  std::optional<double> kl_coefficient, kl_target, kl_horizon;
  std::optional<bool> rejection;
  std::optional<std::string> std;    // n-1 | n | none
  std::optional<std::string> scope;  // group | batch
  std::optional<double> epsilon;
  std::optional<std::string> aggregation;    // token_mean | sequence_mean | sequence_sum_constant
  std::optional<double> aggregation_length;  // of sequence_sum_constant; default max_new_tokens
  std::optional<std::string> ratio;          // token | sequence | sequence_sum
  std::optional<std::string> proximal;       // recompute | interpolate | behaviour
  std::optional<double> truncated_importance_cap;
  std::optional<std::string> importance_mask;  // none | token | sequence
  std::optional<double> importance_low, importance_high;
  std::optional<double> sapo_tau_positive, sapo_tau_negative, opmd_tau, m2_threshold;
  std::optional<double> beta, label_smoothing, margin, desirable_weight, undesirable_weight;
  std::optional<bool> length_mean;
  std::optional<double> gamma, lambda, lambda_length, value_clip, value_coefficient, positive_coefficient;
  std::optional<std::int64_t> value_iterations;
  std::optional<bool> dynamic_sampling;  // the same as generation.zero_spread = "resample"
  std::optional<std::int64_t> overlong_limit, overlong_buffer;
  std::optional<double> overlong_penalty;
  std::optional<bool> mask_truncated;
  std::optional<double> entropy_coefficient;
};

struct OptimizerTable {
  double learning_rate = 1e-3;
  std::int64_t warmup_steps = 0;
  std::string schedule = "constant";  // constant | linear | cosine
  double final_share = 0.0;
  double weight_decay = 0, beta1 = 0.9, beta2 = 0.95, epsilon = 1e-8;
  double gradient_clip = 1.0;  // 0: off
  std::int64_t epochs = 1, mini_batches = 1;
  std::int64_t micro_batch_tokens = 2048;
  std::int64_t gradient_slices = 8;
};

struct WarmStartStage {
  double share = 1;
  std::optional<double> learning_rate;
  std::optional<std::int64_t> batch_tokens, warmup_steps;
  std::optional<double> final_share;
  nlohmann::json task_keys = nlohmann::json::object();  // override the task's keys for this stage
};

struct WarmStartTable {
  std::string train;  // JSONL of {"prompt","response"}
  std::string task;   // demonstrations of a built-in task
  nlohmann::json task_keys = nlohmann::json::object();
  std::int64_t steps = 0;
  std::int64_t batch_tokens = 1024;
  double learning_rate = 1e-3;
  std::int64_t warmup_steps = 20;
  std::string schedule = "cosine";
  double final_share = 0.1;
  std::vector<WarmStartStage> stage;
};

struct EvalTable {
  std::int64_t every = 10;    // iterations; 0: never
  std::string verifier;       // empty: the reward's; never `random` where a task brings its own
  std::int64_t problems = 0;  // 0: all held out
  std::int64_t samples = 0;   // 0: greedy only
  double temperature = 1.0;
  std::int64_t max_new_tokens = 0;  // 0: generation's
  std::vector<std::int64_t> token_budgets;
};

struct ReferenceTable {
  std::string path = "policy";
  std::string weights = "f32";  // f32 | bf16 | q8_0
  std::int64_t refresh_every = 0;
};

struct CriticTable {
  std::string path = "policy";
  bool shared = false;
  std::optional<double> learning_rate, weight_decay, gradient_clip;  // absent: the optimizer's
  std::optional<std::int64_t> warmup_steps;
};

struct RewardModelTable {
  std::string path;
  double weight = 1;
  std::string at = "answer";       // answer | steps
  std::string step_mark = "\n\n";  // what ends a step
  std::string combine = "min";     // of steps: min | mean | product | last
  std::string scale = "raw";       // raw | sigmoid
  std::string weights = "f32";     // f32 | bf16 | q8_0
};

// The ranks of a role: so many of them, or named ones ("0-5"), or a share of all ("75%").
struct RankChoice {
  std::int64_t count = 0;
  std::string text;
};
void to_json(nlohmann::json& json, const RankChoice& choice);

struct PlacementTable {
  std::optional<RankChoice> generator, actor, critic, reference, reward;
};

struct ScheduleTable {
  std::string granularity = "iteration";  // iteration | group
  std::int64_t max_staleness = 0;
  std::string staleness = "exact";
  std::int64_t weight_buffers = 2;  // of ranks that only draw ahead of training
  std::int64_t token_budget = 0;    // new tokens of a rollout in an iteration; 0: no limit
  double over_provision_problems = 1, over_provision_rollouts = 1;  // factors
};

struct Deck {
  std::string title;
  RunTable run;
  ModelTable model;
  TokenizerTable tokenizer;
  DataTable data;
  RewardTable reward;
  GenerationTable generation;
  AlgorithmTable algorithm;
  OptimizerTable optimizer;
  std::optional<WarmStartTable> warm_start;
  EvalTable eval;
  std::optional<ReferenceTable> reference;
  std::optional<CriticTable> critic;
  std::optional<RewardModelTable> reward_model;
  std::optional<EnvironmentTable> environment;
  PlacementTable placement;
  ScheduleTable schedule;

  // Where it came from. Keys are written "run.seed", "warm_start.stage[1].share"; tables "run".
  std::string file;  // as the user named it; empty: no file
  std::map<std::string, std::string>
      origins;                     // "deck.toml:31", "--set run.seed=5"; keys that are absent have their default
  std::vector<std::string> notes;  // for people: what was left out, and why
  std::set<std::string> faulty;    // keys and tables that a fault was already found in; "*": all

  // For a fault: the key's origin, else that of its table, else the file.
  std::string where(const std::string& key) const;
};

}  // namespace maxplus
