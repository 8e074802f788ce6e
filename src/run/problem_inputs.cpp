#include "run/problem_inputs.hpp"

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "data/problem_file.hpp"
#include "data/problem_mix.hpp"
#include "data/repeated_problems.hpp"
#include "rl/algorithms/algorithm.hpp"
#include "run/data_checks.hpp"
#include "run/text_choice.hpp"

namespace maxplus {

namespace {

// Prompts of a task are all of its making: where one does not fit, the deck is wrong.
void require_room(const Deck& deck, const std::string& task, std::int64_t longest, std::int64_t room) {
  if (longest <= room) return;
  const bool by_evaluation = deck.eval.max_new_tokens > deck.generation.max_new_tokens;
  const std::int64_t answers = std::max(deck.generation.max_new_tokens, deck.eval.max_new_tokens);
  throw Error(
      ExitCode::config,
      Fault{deck.where(by_evaluation ? "eval.max_new_tokens" : "generation.max_new_tokens"),
            fmt::format(
                "max_new_tokens = {} leaves room for {} tokens of a prompt, and prompts of task '{}' have up to {}",
                answers, room, task, longest),
            fmt::format("a context of at least {} tokens", answers + longest),
            fmt::format("[model] context = {}", answers + longest)});
}

ProblemFields fields_of(const DataTable& data, const Preset* preset) {
  ProblemFields fields = preset != nullptr ? preset->fields : ProblemFields();
  const std::pair<const std::string*, std::vector<std::string>*> given[] = {{&data.prompt_key, &fields.prompt},
                                                                            {&data.answer_key, &fields.answer},
                                                                            {&data.id_key, &fields.id},
                                                                            {&data.verifier_key, &fields.verifier},
                                                                            {&data.difficulty_key, &fields.difficulty}};
  for (const auto& [key, names] : given) {
    if (!key->empty()) *names = {*key};
  }
  return fields;
}

class ProblemOpener {
 public:
  ProblemOpener(const Deck& deck, InputsFor what, const OpenedModel& model)
      : deck_(deck),
        what_(what),
        model_(model),
        room_(trains_on_answers(deck, what) ? model.config.context : room_for_prompts(deck, model.config)) {}

  ProblemInputs open();

 private:
  enum class For { training, held_out };
  std::shared_ptr<const ProblemSource> file(const std::string& path, const std::string& preset, For purpose);
  std::shared_ptr<const Task> task(const std::string& name, const nlohmann::json& keys, const std::string& table);
  void open_sources();
  void tell_repeats();
  void leave_out_contaminated(std::shared_ptr<const ProblemSource>* problems);
  void make_order();
  bool wants_training() const {
    const DataTable& d = deck_.data;
    return what_ == InputsFor::training || (what_ == InputsFor::replay && !(d.train.empty() && d.source.empty()));
  }

  const Deck& deck_;
  InputsFor what_;
  const OpenedModel& model_;
  std::int64_t room_;
  std::vector<MixPart> parts_;  // what is trained on
  std::vector<bool> is_file_;   // of each part
  std::vector<MixPart> held_out_;
  ProblemInputs inputs_;
};

std::shared_ptr<const ProblemSource> ProblemOpener::file(const std::string& path, const std::string& preset,
                                                         For purpose) {
  ProblemFileOptions options;
  options.preset = preset.empty() ? nullptr : find_preset(preset);
  options.fields = fields_of(deck_.data, options.preset);
  if (options.preset != nullptr && deck_.data.id_key.empty()) options.ids = ProblemFileOptions::Ids::lenient;
  options.on_bad_line = on_bad_line_of(deck_.data.on_bad_line);
  options.max_prompt_tokens = trains_on_answers(deck_, what_) ? room_ - 1 : room_;
  options.answer = ProblemFileOptions::Answer::optional;
  for (const VerifierEntry& entry : verifiers()) options.verifiers.emplace_back(entry.name);
  if (trains_on_answers(deck_, what_)) {
    options.check = [this, rules = answer_rules(deck_, model_, purpose == For::held_out)](const Problem& problem) {
      check_answers(problem, model_.tokenizer.get(), rules);
    };
  }
  try {
    LoadedProblems loaded = load_problems(path, model_.tokenizer, options);
    for (const std::string& note : {loaded.skip_summary, loaded.id_note})
      if (!note.empty()) inputs_.notes.push_back(note);
    return loaded.source;
  } catch (const Error& error) {
    rethrow_with_reason(model_, error);
  }
}

std::shared_ptr<const Task> ProblemOpener::task(const std::string& name, const nlohmann::json& keys,
                                                const std::string& table) {
  const std::shared_ptr<const Task> made = make_task(name, keys, model_.tokenizer, locate_in(deck_, table));
  require_room(deck_, name, std::max(longest_prompt(*made->train()), longest_prompt(*made->held_out())), room_);
  return made;
}

void ProblemOpener::open_sources() {
  const bool judged_by_deck = !deck_.reward.verifier.empty() || !deck_.reward.part.empty();
  for (std::size_t i = 0; i < deck_.data.source.size(); ++i) {
    const DataSource& source = deck_.data.source[i];
    MixPart part{name_of_source(source), nullptr, source.verifier};
    if (!source.task.empty()) {
      const auto made = task(source.task, source.task_keys, fmt::format("data.source[{}]", i));
      if (part.verifier.empty()) part.verifier = made->verifier();
      held_out_.push_back({part.name, made->held_out(), part.verifier});
      part.problems = made->train();
    } else if (wants_training()) {
      const std::string& preset = source.preset.empty() ? deck_.data.preset : source.preset;
      part.problems = file(source.train, preset, For::training);
      if (part.verifier.empty() && !judged_by_deck && !preset.empty()) part.verifier = find_preset(preset)->verifier;
    }
    if (!wants_training()) continue;
    parts_.push_back(std::move(part));
    is_file_.push_back(source.task.empty());
  }
}

void ProblemOpener::leave_out_contaminated(std::shared_ptr<const ProblemSource>* problems) {
  const Repeats repeats = repeats_between(**problems, *inputs_.held_out);
  if (repeats.index.empty()) return;
  const std::string count = fmt::format("{} of {} training problems", repeats.index.size(), (*problems)->size());
  const std::string first = fmt::format("the first: {} is {}", repeats.first[0].first, repeats.first[0].second);
  if (deck_.data.on_contaminated == "stop") {
    std::vector<Fault> faults;
    for (const auto& [where, other] : repeats.first) {
      faults.push_back({where, fmt::format("the problem is held out too: {}", other),
                        fmt::format("problems that are trained on or held out; {} are both", count),
                        "on_contaminated = \"drop\" in [data]"});
    }
    throw Error(ExitCode::data, std::move(faults));
  }
  if (deck_.data.on_contaminated == "warn") {
    inputs_.notes.push_back(fmt::format(
        "warning: {} are held out too, which flatters the accuracy on held-out problems; {}; [data] on_contaminated = "
        "\"drop\" leaves them out",
        count, first));
    return;
  }
  std::vector<std::int64_t> kept;
  for (std::int64_t i = 0; i < (*problems)->size(); ++i) {
    if (!std::binary_search(repeats.index.begin(), repeats.index.end(), i)) kept.push_back(i);
  }
  if (kept.empty()) {
    throw Error(ExitCode::data, Fault{repeats.first[0].first, fmt::format("all {} are held out too", count),
                                      "problems to train on that are not held out", "another file"});
  }
  inputs_.notes.push_back(fmt::format("left out {}, which are held out too; {}", count, first));
  *problems = std::make_shared<ProblemChoice>(*problems, std::move(kept));
}

// Tasks keep their sides apart by construction, and may ask the same twice.
void ProblemOpener::tell_repeats() {
  std::vector<MixPart> files;
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    if (!is_file_[p]) continue;
    if (inputs_.held_out) leave_out_contaminated(&parts_[p].problems);
    files.push_back(parts_[p]);
  }
  if (files.empty() || trains_on_answers(deck_, what_)) return;  // a prompt may stand before several pairs
  const ProblemMix all(std::move(files));
  const Repeats repeats = repeats_within(all);
  if (repeats.index.empty()) return;
  inputs_.notes.push_back(
      fmt::format("{} of {} training problems ask what another asks before; the first: {} repeats {}",
                  repeats.index.size(), all.size(), repeats.first[0].first, repeats.first[0].second));
}

void ProblemOpener::make_order() {
  const DataTable& d = deck_.data;
  std::vector<double> weights(parts_.size(), 1.0);
  for (std::size_t i = 0; i < d.source.size(); ++i) weights[i] = d.source[i].weight;
  const std::vector<std::int64_t> shares = shares_of_block(weights);
  std::vector<TrainingOrder::Part> parts;
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    const ProblemSource& problems = *parts_[p].problems;
    TrainingOrder::Part part{problems.size(), shares[p], {}};
    if (d.order == "curriculum") {
      if (!is_file_[p] && !problems.at(0).extra.contains("difficulty")) {
        throw Error(ExitCode::config,
                    Fault{deck_.where("data.order"),
                          fmt::format("[data] order = \"curriculum\", and task '{}' does not say how difficult its "
                                      "problems are",
                                      parts_[p].name),
                          "tasks whose problems differ in it: arithmetic, sorting, letter_counting, graph_paths",
                          "order = \"shuffled\""});
      }
      part.ranking = easy_first(problems);
    }
    parts.push_back(std::move(part));
  }
  inputs_.order = std::make_shared<TrainingOrder>(static_cast<std::uint64_t>(deck_.run.seed),
                                                  d.order == "file" ? Order::file : Order::shuffled,
                                                  d.curriculum_window, std::move(parts));
}

ProblemInputs ProblemOpener::open() {
  const DataTable& d = deck_.data;
  if (!d.task.empty()) {
    inputs_.task = task(d.task, d.task_keys, "data");
    inputs_.verifier = inputs_.task->verifier();
    parts_.push_back({d.task, inputs_.task->train(), ""});
    is_file_.push_back(false);
    inputs_.held_out = d.eval.empty() ? inputs_.task->held_out() : file(d.eval, d.preset, For::held_out);
  } else {
    open_sources();
    if (d.source.empty() && wants_training()) {
      parts_.push_back({"train", file(d.train, d.preset, For::training), ""});
      is_file_.push_back(true);
    }
    if (!d.preset.empty()) inputs_.verifier = find_preset(d.preset)->verifier;
    if (!d.eval.empty()) {
      inputs_.held_out = file(d.eval, d.preset, For::held_out);
    } else if (!held_out_.empty()) {
      std::vector<std::int64_t> sizes;
      for (const MixPart& part : held_out_) sizes.push_back(part.problems->size());
      inputs_.held_out =
          std::make_shared<ProblemChoice>(std::make_shared<ProblemMix>(std::move(held_out_)), in_turn(sizes));
    }
  }
  if (parts_.empty()) return std::move(inputs_);
  tell_repeats();
  make_order();
  inputs_.train = d.source.empty() ? parts_[0].problems : std::make_shared<ProblemMix>(std::move(parts_));
  return std::move(inputs_);
}

}  // namespace

ProblemInputs open_problems(const Deck& deck, InputsFor what, const OpenedModel& model) {
  return ProblemOpener(deck, what, model).open();
}

std::shared_ptr<const Tokenizer> tokenizer_of_tasks(const Deck& deck) {
  const auto of = [&deck](const std::string& task, const nlohmann::json& keys, const std::string& table) {
    return make_task(task, keys, nullptr, locate_in(deck, table))->tokenizer();
  };
  if (!deck.data.task.empty()) return of(deck.data.task, deck.data.task_keys, "data");
  for (std::size_t i = 0; i < deck.data.source.size(); ++i) {
    const DataSource& source = deck.data.source[i];
    if (!source.task.empty()) return of(source.task, source.task_keys, fmt::format("data.source[{}]", i));
  }
  if (!deck.warm_start || deck.warm_start->task.empty()) return nullptr;
  return of(deck.warm_start->task, deck.warm_start->task_keys, "warm_start");
}

nlohmann::json data_keys_of_task(const DataTable& data, const std::string& task) {
  if (task == data.task) return data.task_keys;
  for (const DataSource& source : data.source) {
    if (task == source.task) return source.task_keys;
  }
  return nlohmann::json::object();
}

AnswerFileOptions answer_rules(const Deck& deck, const OpenedModel& model, bool held_out) {
  AnswerFileOptions rules;
  rules.pairs_only = held_out || deck.algorithm.name != "kto";
  rules.context = model.config.context;
  if (held_out) rules.most_lines = deck.eval.problems;
  return rules;
}

bool trains_on_answers(const Deck& deck, InputsFor what) {
  return what == InputsFor::training && learns_from_answers(deck.algorithm);
}

std::int64_t room_for_prompts(const Deck& deck, const ModelConfig& model) {
  const std::int64_t answers = std::max(deck.generation.max_new_tokens, deck.eval.max_new_tokens);
  const std::int64_t room = model.context - answers;
  if (room < 1) {
    throw Error(ExitCode::config,
                Fault{deck.where("generation.max_new_tokens"),
                      fmt::format("max_new_tokens = {} leave no room for a prompt in the context of {}", answers,
                                  model.context),
                      fmt::format("at most {}", model.context - 1), ""});
  }
  return room;
}

Locate locate_in(const Deck& deck, const std::string& table) {
  return
      [&deck, table](std::string_view key) { return deck.where(key.empty() ? table : table + "." + std::string(key)); };
}

}  // namespace maxplus
