// Checks across keys; see the header. One small method a subject; each fault stands at the key that a user would
// change.
#include "run/deck_checks.hpp"

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/strings.hpp"
#include "model/families/family.hpp"
#include "rl/algorithms/algorithm.hpp"
#include "run/critic_checks.hpp"
#include "run/data_checks.hpp"
#include "run/long_tail_checks.hpp"
#include "run/reference_checks.hpp"
#include "run/reward_model_checks.hpp"
#include "run/role_placement.hpp"

namespace maxplus {

namespace {

constexpr std::int64_t kMostRollouts =
    1 << 24;  // of an iteration: more are a slip, and would only be noticed when memory is used up

class Checker {
 public:
  Checker(const Deck& deck, DeckUse use, int ranks, std::vector<Fault>& faults)
      : deck_(deck), use_(use), ranks_(ranks), faults_(faults) {}

  void model();
  void shape();
  void tokenizer();
  void chat();
  void reward();
  void evaluation();
  void room();
  void rollouts();
  void sampling();
  void zero_spread();
  void algorithm();
  void divergence();
  void optimizer();
  void warm_start();
  void run();
  void placement();

 private:
  // Whether all of these could be read: "data.train", or a table.
  bool clear(std::initializer_list<const char*> keys) const {
    return deck_.faulty.count("*") == 0 && std::none_of(keys.begin(), keys.end(), [this](const std::string key) {
             return deck_.faulty.count(key) > 0 || deck_.faulty.count(key.substr(0, key.find('.'))) > 0;
           });
  }
  bool clear_below(const std::string& table) const {
    return std::none_of(deck_.faulty.begin(), deck_.faulty.end(),
                        [&table](const std::string& key) { return key + "." == table || key.rfind(table, 0) == 0; });
  }
  bool given(const std::string& key) const { return deck_.origins.count(key) > 0; }
  bool trains() const { return use_ == DeckUse::train || use_ == DeckUse::replay; }
  void add(const std::string& key, std::string found, std::string expected, std::string advice) {
    faults_.push_back({deck_.where(key), std::move(found), std::move(expected), std::move(advice)});
  }

  const Deck& deck_;
  DeckUse use_;
  int ranks_;
  int trainers_ = ranks_;  // of the policy or of the critic, whichever has more; known once the placement is checked
  std::vector<Fault>& faults_;
};

void Checker::model() {
  if (!clear({"model.path"})) return;
  const ModelTable& m = deck_.model;
  if (m.path.empty()) return shape();
  const ModelTable none;
  const std::pair<const char*, bool> shape_keys[] = {{"family", m.family != none.family},
                                                     {"width", m.width != 0},
                                                     {"layers", m.layers != 0},
                                                     {"heads", m.heads != 0},
                                                     {"kv_heads", m.kv_heads != 0},
                                                     {"head_width", m.head_width != 0},
                                                     {"ffn_width", m.ffn_width != 0},
                                                     {"window", m.window != 0},
                                                     {"norm_epsilon", m.norm_epsilon != none.norm_epsilon},
                                                     {"rotary_theta", m.rotary_theta != none.rotary_theta},
                                                     {"tie_embeddings", m.tie_embeddings != none.tie_embeddings}};
  for (const auto& [key, differs] : shape_keys) {
    const std::string name = std::string("model.") + key;
    if (!differs || !given(name)) continue;
    add(name, fmt::format("[model] {} is given together with path", key),
        "a path, whose file knows its shape, or a shape", "remove one of them");
  }
}

void Checker::shape() {
  const ModelTable& m = deck_.model;
  const std::vector<std::string> families = family_names();
  if (clear({"model.family"}) && std::find(families.begin(), families.end(), m.family) == families.end()) {
    add("model.family",
        fmt::format("[model] family = {} is not supported{}", quote(shorten(m.family, 60)),
                    did_you_mean(m.family, families)),
        fmt::format("one of {}", join(families, ", ")), fmt::format("family = \"{}\"", families.front()));
  } else if (m.window > 0 && clear({"model.family", "model.window"}) &&
             find_family(m.family, "").windows == WindowLayers::none) {
    add("model.window", fmt::format("[model] window = {}, but a {} has no sliding window", m.window, m.family),
        "a family with windows: mistral, qwen2, qwen3 or gemma2", "leave it out");
  }
  const std::pair<const char*, std::int64_t> needed[] = {
      {"model.width", m.width}, {"model.layers", m.layers}, {"model.heads", m.heads}, {"model.ffn_width", m.ffn_width}};
  std::string missing;
  for (const auto& [key, value] : needed) {
    if (value == 0 && clear({key})) missing += (missing.empty() ? "" : ", ") + std::string(key).substr(6);
  }
  if (missing == "width, layers, heads, ffn_width") {
    add("model", "[model] has neither a path nor a shape", "path = a model, or width, layers, heads and ffn_width",
        "path = \"...\"");
  } else if (!missing.empty()) {
    add("model", fmt::format("[model] lacks {}", missing),
        "a shape: width, layers, heads and ffn_width (kv_heads, head_width)", "");
  }
  if (m.heads > 0 && m.kv_heads > 0 && clear({"model.heads", "model.kv_heads"}) && m.heads % m.kv_heads != 0) {
    add("model.kv_heads", fmt::format("[model] kv_heads = {} does not divide heads = {}", m.kv_heads, m.heads),
        "every key and value head serves as many query heads", fmt::format("kv_heads = {}", m.heads));
  }
  if (m.width > 0 && m.heads > 0 && m.head_width == 0 && clear({"model.width", "model.heads", "model.head_width"})) {
    if (m.width % m.heads != 0) {
      add("model.heads", fmt::format("[model] heads = {} does not divide width = {}", m.heads, m.width),
          "width / heads is the width of a head, or head_width says it", "");
    } else if (m.width / m.heads % 2 != 0) {
      add("model.heads", fmt::format("[model] width / heads = {} is odd", m.width / m.heads),
          "an even width of a head, for the rotary pairs", "");
    }
  }
  if (m.head_width % 2 != 0 && clear({"model.head_width"})) {
    add("model.head_width", fmt::format("[model] head_width = {} is odd", m.head_width),
        "an even width, for the rotary pairs", "");
  }
}

void Checker::tokenizer() {
  const TokenizerTable& t = deck_.tokenizer;
  if (!clear({"tokenizer.kind", "tokenizer.path", "tokenizer.words", "tokenizer.alphabet"})) return;
  if (!t.kind.empty() && !t.path.empty()) {
    add("tokenizer.path", "[tokenizer] kind and path are both given", "one of them", "remove one of them");
  } else if (t.kind == "characters" && t.alphabet.empty()) {
    add("tokenizer.kind", "[tokenizer] kind = \"characters\" has no alphabet",
        "alphabet = the characters in the order of their ids", "alphabet = \"0123456789+-*= \"");
  } else if (t.kind == "words" && t.words.empty()) {
    add("tokenizer.kind", "[tokenizer] kind = \"words\" has no words", "words = the words in the order of their ids",
        "words = \"0 1 2 + - =\"");
  }
  if (!t.words.empty() && t.kind != "words") {
    add("tokenizer.words", "[tokenizer] words are given, but the kind is not \"words\"", "kind = \"words\"",
        "kind = \"words\"");
  }
  if (!t.alphabet.empty() && t.kind != "characters") {
    add("tokenizer.alphabet", "[tokenizer] an alphabet is given, but the kind is not \"characters\"",
        "kind = \"characters\"", "kind = \"characters\"");
  }
}

void Checker::chat() {
  const TokenizerTable& t = deck_.tokenizer;
  if (!clear({"tokenizer.kind", "tokenizer.path", "tokenizer.chat_template", "tokenizer.end_token"})) return;
  if (!t.end_token.empty() && t.path.empty()) {
    add("tokenizer.end_token", "[tokenizer] end_token is given without path", "path = \"tokenizer.json\"",
        "of another model: stop in [generation]");
  }
  if (!t.kind.empty() && t.chat_template != "auto" && t.chat_template != "raw") {
    add("tokenizer.chat_template",
        fmt::format("[tokenizer] chat_template = \"{}\" does not go with kind = \"{}\"", t.chat_template, t.kind),
        "a published tokenizer, which has the tokens of a template", "remove chat_template");
  }
  const bool literal = t.chat_template == "literal";
  const std::pair<const char*, const std::vector<std::string>&> roles[] = {
      {"chat_system", t.chat_system}, {"chat_user", t.chat_user}, {"chat_assistant", t.chat_assistant}};
  for (const auto& [name, around] : roles) {
    const std::string key = std::string("tokenizer.") + name;
    if (!around.empty() && (around.size() != 2 || !literal)) {
      add(key,
          literal ? fmt::format("[tokenizer] {} has {} texts", name, around.size())
                  : fmt::format("[tokenizer] {} is given, but chat_template is not \"literal\"", name),
          literal ? "two: what stands before and behind a message" : "chat_template = \"literal\"",
          fmt::format("{} = [\"<|im_start|>user\\n\", \"<|im_end|>\\n\"]", name));
    } else if (around.empty() && literal && std::string_view(name) != "chat_system") {
      add(key, fmt::format("[tokenizer] chat_template = \"literal\" has no {}", name),
          "two texts: what stands before and behind a message", "");
    }
  }
}

void Checker::reward() {
  const RewardTable& r = deck_.reward;
  if (!clear({"reward.verifier", "reward.part"}) || !clear_below("data.")) return;
  if (!r.verifier.empty() && !r.part.empty()) {
    add("reward.verifier", "[reward] verifier and [[reward.part]] are both given", "one judge, or parts",
        "write the verifier as a part too");
  }
  for (std::size_t i = 0; i < r.part.size(); ++i) {
    const std::string part = fmt::format("reward.part[{}]", i);
    if (r.part[i].verifier.empty() && clear({part.c_str(), (part + ".verifier").c_str()})) {
      add(part, "[[reward.part]] has no verifier", "verifier = the judge of this part", "verifier = \"exact\"");
    }
  }
  const bool judged = use_ == DeckUse::train && (!deck_.data.train.empty() || !deck_.data.source.empty()) &&
                      !brings_judges(deck_.data) && !learns_from_answers(deck_.algorithm) && !deck_.reward_model;
  if (judged && r.verifier.empty() && r.part.empty() && !given("reward")) {
    add(deck_.data.train.empty() ? "data" : "data.train", "the problems have no judge: there is no [reward]",
        "[reward] with verifier, or with parts", "[reward] alone, if every problem names its own verifier");
  }
}

void Checker::evaluation() {
  const EvalTable& e = deck_.eval;
  if (!clear({"eval.every", "eval.samples", "eval.temperature", "data.eval", "data.task", "data.source"})) return;
  if (use_ == DeckUse::train && given("eval.every") && e.every > 0 && !has_held_out(deck_.data)) {
    add("eval.every", fmt::format("[eval] every = {}, but [data] has no held-out problems", e.every),
        "eval = a file of problems in [data], or every = 0", "every = 0");
  }
  if (e.samples > 0 && !(e.temperature > 0)) {
    add("eval.temperature", fmt::format("[eval] temperature = {} with samples = {}", e.temperature, e.samples),
        "a temperature above 0 where answers are sampled", "temperature = 1.0, or samples = 0 for greedy answers only");
  }
}

void Checker::room() {
  const GenerationTable& g = deck_.generation;
  if (!clear({"generation.max_new_tokens", "generation.force_length", "model.context", "model.path"})) return;
  // The context of a model from a file is the file's, unless the deck asks for less.
  const bool known = deck_.model.path.empty() || given("model.context");
  const auto leaves_none = [&](const char* table, const char* key, std::int64_t tokens) {
    if (!known || tokens < deck_.model.context) return;
    add(fmt::format("{}.{}", table, key),
        fmt::format("[{}] {} = {} leaves no room for a prompt in the context of {} tokens", table, key, tokens,
                    deck_.model.context),
        fmt::format("fewer than {} tokens", deck_.model.context), "a larger context in [model], or fewer new tokens");
  };
  leaves_none("generation", "max_new_tokens", g.max_new_tokens);
  if (clear({"eval.max_new_tokens"})) leaves_none("eval", "max_new_tokens", deck_.eval.max_new_tokens);
  if (g.force_length > g.max_new_tokens) {
    add("generation.force_length",
        fmt::format("[generation] force_length = {} is more than max_new_tokens = {}", g.force_length,
                    g.max_new_tokens),
        "at most max_new_tokens", fmt::format("max_new_tokens = {}", g.force_length));
  } else if (g.force_length == 0 && g.force_length_sigma > 0 && clear({"generation.force_length_sigma"})) {
    add("generation.force_length_sigma",
        fmt::format("[generation] force_length_sigma = {} is given without force_length", g.force_length_sigma),
        "the median of the lengths", fmt::format("force_length = {}", std::max<std::int64_t>(1, g.max_new_tokens / 4)));
  } else if (g.force_length > 0 && deck_.environment) {
    add("generation.force_length", "[generation] force_length is given together with [environment]",
        "one of them: an environment's answers have their own lengths", "remove one of them");
  }
}

void Checker::rollouts() {
  const GenerationTable& g = deck_.generation;
  if (!clear({"generation.problems_per_iteration", "generation.group_size"})) return;
  if (g.problems_per_iteration <= kMostRollouts / g.group_size) return;
  const bool groups = given("generation.problems_per_iteration") && g.problems_per_iteration >= g.group_size;
  add(groups ? "generation.problems_per_iteration" : "generation.group_size",
      fmt::format("[generation] problems_per_iteration = {} with group_size = {} is too much", g.problems_per_iteration,
                  g.group_size),
      fmt::format("at most {} rollouts an iteration", kMostRollouts), "more iterations of fewer problems");
}

void Checker::sampling() {
  const GenerationTable& g = deck_.generation;
  if (clear({"generation.temperature"}) && !(g.temperature > 0)) {
    add("generation.temperature",
        fmt::format("[generation] temperature = {} draws the same answer each time", g.temperature),
        "a temperature above 0: a group needs answers that differ", "temperature = 1.0");
  }
  if (clear({"generation.top_p"}) && g.top_p != 1.0) {
    add("generation.top_p", fmt::format("[generation] top_p = {} cannot be used in training", g.top_p),
        "top_p = 1: the trainer's log-probabilities are of the whole distribution", "top_p = 1.0");
  }
  if (clear({"generation.top_k"}) && g.top_k != 0) {
    add("generation.top_k", fmt::format("[generation] top_k = {} cannot be used in training", g.top_k),
        "top_k = 0: the trainer's log-probabilities are of the whole distribution", "top_k = 0");
  }
}

void Checker::zero_spread() {
  const std::optional<bool>& dynamic = deck_.algorithm.dynamic_sampling;
  const std::string& spread = deck_.generation.zero_spread;
  if (!dynamic || !given("generation.zero_spread") || !clear({"generation.zero_spread", "algorithm.dynamic_sampling"}))
    return;
  if (*dynamic == (spread == "resample")) return;
  add("algorithm.dynamic_sampling",
      fmt::format("[algorithm] dynamic_sampling = {} contradicts [generation] zero_spread = \"{}\"", *dynamic, spread),
      "dynamic_sampling = true is zero_spread = \"resample\"", "remove one of them");
}

void Checker::algorithm() {
  if (!clear({"algorithm"})) return;
  if (std::any_of(deck_.faulty.begin(), deck_.faulty.end(),
                  [](const std::string& key) { return key.rfind("algorithm.", 0) == 0; }))
    return;
  std::unique_ptr<Algorithm> algorithm;
  try {
    algorithm = make_algorithm(deck_.algorithm, deck_.generation.max_new_tokens);
  } catch (const Error& error) {
    for (Fault fault : error.faults()) {
      // The rule knows its table only: the key that its sentence begins with tells the line.
      const std::size_t begin = fault.found.rfind("[algorithm] ", 0) == 0 ? 12 : 0;
      const std::string key = "algorithm." + fault.found.substr(begin, fault.found.find(' ', begin) - begin);
      if (fault.where.empty()) fault.where = deck_.where(key);
      faults_.push_back(std::move(fault));
    }
    return;
  }
  if (algorithm->needs().reference && !deck_.reference && deck_.algorithm.kl == "none" && clear({"reference"})) {
    add("algorithm.name",
        fmt::format("[algorithm] name = '{}' compares with a reference, and there is no [reference]",
                    deck_.algorithm.name),
        "[reference] with path = a model, or \"policy\"", "path = \"policy\"");
  }
  if (clear({"critic"})) check_critic(deck_, *algorithm, faults_);
  if (clear({"reference"})) check_reference(deck_, faults_);
  if (clear({"reward_model"}) && use_ == DeckUse::train) check_reward_model(deck_, *algorithm, faults_);
  const std::int64_t size = deck_.generation.group_size;
  if (clear({"generation.group_size"}) && size < algorithm->smallest_group()) {
    add("generation.group_size",
        fmt::format("[generation] group_size = {} is too small for algorithm '{}'", size, deck_.algorithm.name),
        fmt::format("at least {} rollouts, which it compares with each other", algorithm->smallest_group()),
        "group_size = 8");
  }
}

void Checker::divergence() {
  const AlgorithmTable& a = deck_.algorithm;
  if (!clear({"algorithm.kl", "algorithm.kl_where", "algorithm.kl_coefficient", "reference"})) return;
  if (a.kl != "none" && !deck_.reference) {
    add("algorithm.kl", fmt::format("[algorithm] kl = \"{}\" needs a reference, and there is no [reference]", a.kl),
        "[reference] with path = a model, or \"policy\"", "[reference], or kl = \"none\"");
  }
  if (a.kl != "none") return;
  if (a.kl_where) {
    add("algorithm.kl_where", fmt::format("[algorithm] kl_where = \"{}\" has no effect: kl = \"none\"", *a.kl_where),
        "kl = \"k1\", \"k2\" or \"k3\"", "kl = \"k3\", or remove kl_where");
  }
  if (a.kl_coefficient && *a.kl_coefficient != 0) {
    add("algorithm.kl_coefficient",
        fmt::format("[algorithm] kl_coefficient = {} has no effect: kl = \"none\"", *a.kl_coefficient),
        "kl = \"k1\", \"k2\" or \"k3\"", "kl = \"k3\", or remove kl_coefficient");
  }
}

void Checker::optimizer() {
  const OptimizerTable& o = deck_.optimizer;
  if (clear({"optimizer.gradient_slices"})) {
    const std::int64_t slices = o.gradient_slices;
    if ((slices & (slices - 1)) != 0) {
      std::int64_t next = 1;
      while (next < slices) next *= 2;
      add("optimizer.gradient_slices", fmt::format("[optimizer] gradient_slices = {} is not a power of two", slices),
          "1, 2, 4, 8, ...", fmt::format("gradient_slices = {}", next));
    } else if (slices < trainers_) {
      std::int64_t next = slices;
      while (next < trainers_) next *= 2;
      add("optimizer.gradient_slices",
          fmt::format("[optimizer] gradient_slices = {} is less than the {} ranks", slices, trainers_),
          "at least one slice a rank", fmt::format("gradient_slices = {}, or {} ranks", next, slices));
    }
  }
  const std::int64_t groups = deck_.generation.problems_per_iteration;
  if (use_ == DeckUse::train && clear({"optimizer.mini_batches", "generation.problems_per_iteration"}) &&
      o.mini_batches > groups) {
    add("optimizer.mini_batches",
        fmt::format("[optimizer] mini_batches = {} is more than the {} groups of an iteration", o.mini_batches, groups),
        "at least one group a mini-batch ([generation] problems_per_iteration)",
        fmt::format("mini_batches = {}", groups));
  }
}

void Checker::warm_start() {
  if (!deck_.warm_start || !clear({"warm_start.train", "warm_start.task", "warm_start.steps"})) return;
  const WarmStartTable& w = *deck_.warm_start;
  if (!w.train.empty() && !w.task.empty()) {
    add("warm_start.task", "[warm_start] train and task are both given",
        "demonstrations from a file, or of a built-in task", "remove one of them");
  } else if (w.steps > 0 && w.train.empty() && w.task.empty()) {
    add("warm_start", "[warm_start] has neither train nor task",
        "train = a file of demonstrations, or task = a built-in task", "steps = 0 for no warm start");
  }
  if (!given("warm_start.steps")) {
    add("warm_start", "[warm_start] has no steps", "steps = the number of supervised steps", "steps = 1000");
  }
  if (w.steps > 0 && static_cast<std::int64_t>(w.stage.size()) > w.steps) {
    add("warm_start.steps", fmt::format("[warm_start] steps = {} is less than its {} stages", w.steps, w.stage.size()),
        "at least one step a stage", "");
  }
}

void Checker::run() {
  const RunTable& r = deck_.run;
  const bool both = given("run.watchdog_s") && given("reward.timeout_s");
  if (clear({"run.watchdog_s", "reward.timeout_s"}) && use_ == DeckUse::train && both &&
      r.watchdog_s <= deck_.reward.timeout_s) {
    add("run.watchdog_s",
        fmt::format("[run] watchdog_s = {} is not longer than [reward] timeout_s = {}", r.watchdog_s,
                    deck_.reward.timeout_s),
        "a judgement may take its whole time without being taken for a hang",
        fmt::format("watchdog_s = {}", 10 * deck_.reward.timeout_s));
  }
}

void Checker::placement() {
  if (clear({"placement", "schedule.max_staleness", "algorithm"}) && clear_below("placement.")) {
    std::vector<Fault> found;
    check_placement(deck_, ranks_, found);
    if (found.empty()) trainers_ = most_trainers(role_map_of(deck_, ranks_));
    for (Fault& fault : found) faults_.push_back(std::move(fault));
  }
  if (clear({"schedule.max_staleness", "schedule.staleness", "schedule.token_budget", "algorithm", "generation",
             "generation.max_new_tokens", "generation.force_length", "environment"}))
    check_long_tails(deck_, faults_);
}

}  // namespace

void check_deck(const Deck& deck, DeckUse use, int ranks, std::vector<Fault>& faults) {
  if (deck.faulty.count("*") > 0) return;
  Checker checker(deck, use, ranks, faults);
  checker.model();
  checker.tokenizer();
  checker.chat();
  if (use == DeckUse::model) return;
  check_data(deck, use, faults);
  checker.reward();
  checker.evaluation();
  checker.room();
  if (use == DeckUse::evaluate) return;
  checker.rollouts();
  if (use == DeckUse::train) checker.sampling();
  checker.zero_spread();
  checker.algorithm();
  checker.divergence();
  if (use == DeckUse::train) checker.placement();
  checker.optimizer();
  checker.warm_start();
  checker.run();
}

}  // namespace maxplus
