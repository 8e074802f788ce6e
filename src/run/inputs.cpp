#include "run/inputs.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <span>

#include <fmt/format.h>

#include "base/error.hpp"
#include "model/families/family.hpp"
#include "rl/algorithms/algorithm.hpp"
#include "run/networks_beside.hpp"
#include "run/problem_inputs.hpp"
#include "run/text_choice.hpp"
#include "verify/sandbox/policy.hpp"

namespace maxplus {

namespace {

ModelConfig shape_of_deck(const Deck& deck, const Tokenizer& tokenizer) {
  const ModelTable& table = deck.model;
  ModelConfig config;
  config.family = table.family;
  config.vocabulary = tokenizer.vocabulary_size();
  config.width = table.width;
  config.layers = table.layers;
  config.heads = table.heads;
  config.kv_heads = table.kv_heads > 0 ? table.kv_heads : table.heads;
  config.head_width = table.head_width > 0 ? table.head_width : (table.heads > 0 ? table.width / table.heads : 0);
  config.ffn_width = table.ffn_width;
  config.context = table.context;
  config.tie_embeddings = table.tie_embeddings;
  const Family& family = find_family(table.family, deck.where("model.family"));
  const Family::Defaults& defaults = family.defaults;
  config.norm_epsilon = table.norm_epsilon > 0 ? table.norm_epsilon : defaults.norm_epsilon;
  config.rotary_theta = table.rotary_theta > 0 ? table.rotary_theta : defaults.rotary_theta;
  config.windows = windows_of(family.windows, config.layers, table.window > 0 ? table.window : defaults.window);
  family.complete(config);
  config.end_token = tokenizer.end_token();
  std::vector<Fault> faults = model_config_faults(config, deck.where("model"));
  if (!faults.empty()) throw Error(ExitCode::config, std::move(faults));
  return config;
}

OpenedModel model_of_deck(const Deck& deck, const std::shared_ptr<const Tokenizer>& tokenizer) {
  if (!deck.model.path.empty()) return open_deck_model(deck, tokenizer);
  if (!tokenizer) {
    throw Error(
        ExitCode::config,
        Fault{deck.where("model"), "a network from random weights needs a tokenizer, and the deck names none",
              "[tokenizer] kind = \"characters\" or \"words\", path, or a [data] task that brings its own", ""});
  }
  if (tokenizer->end_token() < 0) {
    throw Error(ExitCode::config,
                Fault{deck.where("tokenizer.path"),
                      fmt::format("'{}' does not say which token ends an answer", deck.tokenizer.path),
                      "end_token, the text of one", "end_token = \"<|endoftext|>\""});
  }
  OpenedModel model;
  model.config = shape_of_deck(deck, *tokenizer);
  model.tokenizer = as_deck_writes(deck, tokenizer);
  const auto seed = static_cast<std::uint64_t>(deck.run.seed);
  model.load = [seed](WeightSet& weights) { weights.initialise(seed); };
  model.description = fmt::format("{} of random weights", model.config.family);
  return model;
}

// What evaluation judges with: the deck's reward, but never a random one where the task knows better.
RewardTable evaluation_table(const Deck& deck, const Task* task) {
  RewardTable table = deck.reward;
  const bool random = table.verifier == "random" && task != nullptr;
  if (!deck.eval.verifier.empty() || random) {
    table.verifier = deck.eval.verifier.empty() ? std::string(task->verifier()) : deck.eval.verifier;
    table.keys = nlohmann::json::object();
    table.part.clear();
  }
  return table;
}

// Names of verifiers that problems ask for themselves; an empty one where a problem does not.
std::set<std::string> verifiers_of(const ProblemSource* train, std::span<const Problem> held_out) {
  std::set<std::string> names;
  for (std::int64_t i = 0; train != nullptr && i < train->size(); ++i) names.insert(train->at(i).verifier);
  for (const Problem& problem : held_out) names.insert(problem.verifier);
  return names;
}

// A file in which no problem has an answer names it otherwise.
void require_answers(const Deck& deck, const RunInputs& inputs) {
  if (inputs.task || !inputs.train || !inputs.reward->needs_answer()) return;
  for (std::int64_t i = 0; i < inputs.train->size(); ++i) {
    const Problem problem = inputs.train->at(i);
    if (!problem.answer.is_null() || !problem.verifier.empty()) return;
  }
  throw Error(ExitCode::data,
              Fault{inputs.train->where(0), "no problem has an answer that the verifier could compare with",
                    fmt::format("\"{}\" in every line", deck.data.answer_key),
                    "[data] answer_key names the field that holds it"});
}

void open_rewards(const Deck& deck, InputsFor what, const std::string& default_verifier,
                  std::shared_ptr<const Broker> broker, RunInputs* inputs) {
  RewardContext context;
  context.broker = std::move(broker);
  context.seed = static_cast<std::uint64_t>(deck.run.seed);
  context.folder = std::filesystem::path(deck.file).parent_path().string();
  context.default_verifier = default_verifier;
  // A task's problems name none; held-out ones of a file may.
  std::set<std::string> named = verifiers_of(inputs->task ? nullptr : inputs->train.get(), inputs->held_out);
  if (default_verifier.empty() && !named.empty() && !named.contains("")) context.default_verifier = *named.begin();
  named.erase("");
  context.problem_verifiers.assign(named.begin(), named.end());
  context.locate = locate_in(deck, "reward");
  // With a reward model answers need no judge.
  const bool judged = what != InputsFor::training || !deck.reward_model || inputs->task ||
                      !deck.reward.verifier.empty() || !deck.reward.part.empty() || !context.problem_verifiers.empty();
  if (!judged) return;
  if (what == InputsFor::training) {
    inputs->reward = make_reward_function(deck.reward, context);
    require_answers(deck, *inputs);
  }
  if (!inputs->held_out.empty())
    inputs->evaluation_reward = make_reward_function(evaluation_table(deck, inputs->task.get()), context);
}

std::shared_ptr<const Environment> environment_of_keys(const Deck& deck, std::shared_ptr<const Broker> broker) {
  return make_environment(deck.environment->keys, std::filesystem::path(deck.file).parent_path().string(),
                          std::move(broker), locate_in(deck, "environment"));
}

std::shared_ptr<const Environment> environment_of_deck(const Deck& deck, const OpenedModel& model,
                                                       std::shared_ptr<const Broker> broker) {
  if (!model.tokenizer) {
    throw Error(ExitCode::config,
                Fault{deck.where("environment"), "[environment] needs text, and there is no tokenizer",
                      "[tokenizer], or a model with one", ""});
  }
  return environment_of_keys(deck, std::move(broker));
}

std::vector<std::int32_t> stop_tokens(const Deck& deck, const OpenedModel& model) {
  std::vector<std::int32_t> stop;
  std::vector<Fault> faults;
  for (const std::string& piece : deck.generation.stop) {
    const std::optional<std::int32_t> id = model.tokenizer ? model.tokenizer->id_of(piece) : std::nullopt;
    if (id) {
      stop.push_back(*id);
    } else {
      faults.push_back({deck.where("generation.stop"),
                        fmt::format("stop token '{}' is not a token of the tokenizer", piece), "one token's text", ""});
    }
  }
  if (!faults.empty()) throw Error(ExitCode::config, std::move(faults));
  return stop.empty() ? usual_stop_tokens(model) : stop;
}

void open_answers(const Deck& deck, const std::shared_ptr<const ProblemSource>& held_out, RunInputs* inputs) {
  const Tokenizer* tokenizer = inputs->model.tokenizer.get();
  inputs->answers = std::make_shared<AnswerSource>(inputs->train, tokenizer, answer_rules(deck, inputs->model, false));
  inputs->longest_recorded = inputs->answers->longest();
  if (!held_out) return;
  inputs->held_out_answers =
      std::make_shared<AnswerSource>(held_out, tokenizer, answer_rules(deck, inputs->model, true));
  inputs->longest_recorded = std::max(inputs->longest_recorded, inputs->held_out_answers->longest());
}

nlohmann::json overlaid(nlohmann::json keys, const nlohmann::json& over) {
  if (over.is_object()) keys.update(over);
  return keys;
}

// The task of a warm-start stage (-1: the table itself). A task has one set of keys: those of [data] where it is the
// same task, then [warm_start], then the stage.
std::shared_ptr<const Task> stage_task(const Deck& deck, const std::shared_ptr<const Tokenizer>& tokenizer, int stage) {
  const WarmStartTable& table = *deck.warm_start;
  nlohmann::json keys = overlaid(data_keys_of_task(deck.data, table.task), table.task_keys);
  std::string place = "warm_start";
  if (stage >= 0) {
    keys = overlaid(std::move(keys), table.stage[static_cast<std::size_t>(stage)].task_keys);
    place = fmt::format("warm_start.stage[{}]", stage);
  }
  return make_task(table.task, keys, tokenizer, locate_in(deck, place));
}

// The network of algorithm 'reward_model': a language model's layers with a head that scores answers in place of its
// own, or a classifier that goes on learning.
void make_scorer(OpenedModel& model, std::uint64_t seed) {
  const ModelConfig stored = model.config;
  model.config.token_head = false;
  model.config.value_head = true;
  model.companions.erase("config.json");
  if (!model.open_weights || !stored.token_head) return;
  model.load = [open = model.open_weights, stored, seed](WeightSet& weights) {
    load_other_heads(open(), stored, weights, seed);
  };
}

bool trains_scorer(const Deck& deck, InputsFor what) {
  return what != InputsFor::evaluation &&
         make_algorithm(deck.algorithm, deck.generation.max_new_tokens)->needs().answer_score;
}

}  // namespace

void check_named(const Deck& deck, InputsFor what, std::vector<Fault>& faults) {
  const auto collect = [&faults](const auto& attempt) {
    try {
      attempt();
    } catch (const Error& error) {
      if (error.code() != ExitCode::config) throw;
      faults.insert(faults.end(), error.faults().begin(), error.faults().end());
    }
  };
  const auto sound = [&deck](const std::string& table) {
    if (deck.faulty.contains("*")) return false;
    return std::none_of(deck.faulty.begin(), deck.faulty.end(),
                        [&table](const std::string& key) { return key.rfind(table, 0) == 0; });
  };
  std::shared_ptr<const Task> task;
  if (sound("tokenizer")) collect([&] { kind_tokenizer(deck); });
  if (sound("data") && !deck.data.task.empty()) {
    collect([&] { task = make_task(deck.data.task, deck.data.task_keys, nullptr, locate_in(deck, "data")); });
  }
  for (std::size_t i = 0; sound("data") && i < deck.data.source.size(); ++i) {
    const DataSource& source = deck.data.source[i];
    const std::string table = fmt::format("data.source[{}]", i);
    if (!source.task.empty())
      collect([&] { make_task(source.task, source.task_keys, nullptr, locate_in(deck, table)); });
  }
  if (what == InputsFor::training && sound("warm_start") && deck.warm_start && !deck.warm_start->task.empty()) {
    collect([&] { stage_task(deck, nullptr, -1); });
    for (std::size_t s = 0; s < deck.warm_start->stage.size(); ++s) {
      if (!deck.warm_start->stage[s].task_keys.empty())
        collect([&] { stage_task(deck, nullptr, static_cast<int>(s)); });
    }
  }
  if (what != InputsFor::replay && deck.environment && sound("environment"))
    collect([&] { environment_of_keys(deck, nullptr); });
  if (what == InputsFor::training && sound("reward")) {
    RewardContext context;
    context.folder = std::filesystem::path(deck.file).parent_path().string();
    context.locate = locate_in(deck, "reward");
    if (task) context.default_verifier = task->verifier();
    const bool named = !deck.reward.verifier.empty() || !deck.reward.part.empty() || task != nullptr;
    if (named) collect([&] { make_reward_function(deck.reward, context); });
  }
}

RunInputs open_inputs(const Deck& deck, InputsFor what, std::shared_ptr<const Broker> broker) {
  RunInputs inputs;
  inputs.notes = deck.notes;
  std::shared_ptr<const Tokenizer> tokenizer = deck_tokenizer(deck);
  if (!tokenizer && deck.model.path.empty()) tokenizer = tokenizer_of_tasks(deck);
  inputs.model = model_of_deck(deck, tokenizer);
  if (trains_scorer(deck, what)) {
    make_scorer(inputs.model, static_cast<std::uint64_t>(deck.run.seed));
  } else {
    require_tokens(inputs.model, deck.where("model.path"));
  }
  const bool trains = what != InputsFor::evaluation;
  if (trains && deck.critic && deck.critic->path != "policy") inputs.critic = open_critic(deck, inputs.model);
  if (trains && deck.reference && deck.reference->path != "policy") {
    inputs.reference = open_reference(deck, inputs.model);
    inputs.reference_hash = weights_hash_of(*inputs.reference);
  }
  if (what == InputsFor::training && deck.reward_model) {
    inputs.reward_model = open_reward_model(deck, inputs.model);
    inputs.reward_model_hash = weights_hash_of(*inputs.reward_model);
  }
  inputs.stop = stop_tokens(deck, inputs.model);
  if (deck.environment && what != InputsFor::replay)
    inputs.environment = environment_of_deck(deck, inputs.model, broker);

  ProblemInputs problems = open_problems(deck, what, inputs.model);
  inputs.task = problems.task;
  inputs.train = problems.train;
  inputs.order = problems.order;
  inputs.notes.insert(inputs.notes.end(), problems.notes.begin(), problems.notes.end());
  const std::shared_ptr<const ProblemSource> held_out = problems.held_out;
  if (held_out) {
    inputs.held_out_in_all = held_out->size();
    const std::int64_t wanted =
        deck.eval.problems > 0 ? std::min(deck.eval.problems, held_out->size()) : held_out->size();
    for (std::int64_t i = 0; i < wanted; ++i) inputs.held_out.push_back(held_out->at(i));
    inputs.longest_prompt = std::max(inputs.longest_prompt, longest_prompt(*held_out));
  }
  if (inputs.train) inputs.longest_prompt = std::max(inputs.longest_prompt, longest_prompt(*inputs.train));

  if (trains_on_answers(deck, what)) {
    open_answers(deck, held_out, &inputs);
  } else {
    open_rewards(deck, what, problems.verifier, std::move(broker), &inputs);
  }
  for (const auto& reward : {inputs.reward, inputs.evaluation_reward}) {
    if (reward != nullptr) inputs.sandbox = weaker_tier(inputs.sandbox, reward->confinement());
  }
  return inputs;
}

std::vector<std::string> reward_parts(const RunInputs& inputs) {
  std::vector<std::string> names;
  if (inputs.reward) {
    for (const RewardFunction::Part& part : inputs.reward->parts()) names.push_back(part.name);
  }
  if (inputs.reward_model) names.emplace_back("reward_model");
  return names.size() > 1 ? names : std::vector<std::string>();
}

std::shared_ptr<const DemonstrationSource> open_demonstrations(const Deck& deck, const RunInputs& inputs, int stage,
                                                               std::vector<std::string>* notes) {
  const WarmStartTable& table = *deck.warm_start;
  if (!table.train.empty()) {
    LoadedDemonstrations loaded = load_demonstrations(table.train, inputs.model.tokenizer, inputs.model.config.context,
                                                      on_bad_line_of(deck.data.on_bad_line));
    if (!loaded.skip_summary.empty()) notes->push_back(std::move(loaded.skip_summary));
    return loaded.source;
  }
  return stage_task(deck, inputs.model.tokenizer, stage)->demonstrations();
}

}  // namespace maxplus
