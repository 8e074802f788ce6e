#include "run/data_checks.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "base/strings.hpp"
#include "data/preset.hpp"
#include "data/training_order.hpp"
#include "rl/algorithms/algorithm.hpp"
#include "verify/verifier.hpp"

namespace maxplus {

namespace {

bool has_judge(const std::string& preset) {
  const Preset* found = find_preset(preset);
  return found != nullptr && !found->verifier.empty();
}

class DataChecker {
 public:
  DataChecker(const Deck& deck, DeckUse use, std::vector<Fault>& faults) : deck_(deck), use_(use), faults_(faults) {}

  void origin_of_problems();
  void answers();
  void order();
  void sources();

 private:
  bool sound(const std::string& key) const { return deck_.faulty.count(key) == 0 && deck_.faulty.count("data") == 0; }
  void add(const std::string& key, std::string found, std::string expected, std::string advice) {
    faults_.push_back({deck_.where(key), std::move(found), std::move(expected), std::move(advice)});
  }
  void source(std::size_t i);
  void shares();

  const Deck& deck_;
  DeckUse use_;
  std::vector<Fault>& faults_;
  std::set<std::string> names_;
};

void DataChecker::origin_of_problems() {
  const DataTable& d = deck_.data;
  const bool any = !d.train.empty() || !d.task.empty() || !d.source.empty();
  if (!d.train.empty() && !d.task.empty()) {
    add("data.task", "[data] train and task are both given", "problems from a file, or of a built-in task",
        "remove one of them, or write both as [[data.source]]");
  } else if (use_ == DeckUse::train && !any) {
    add("data", "[data] has neither train nor task", "train = a file of problems, or task = a built-in task",
        "train = \"problems.jsonl\"");
  }
  if (!d.source.empty() && (!d.train.empty() || !d.task.empty())) {
    add("data.source[0]", "[[data.source]] stands beside [data] train or task", "one or the other",
        "write it as a source too");
  }
  if (!d.task.empty() && !d.preset.empty()) {
    add("data.preset", fmt::format("[data] preset has no effect with task = {}", quote(d.task)),
        "a preset for files of others", "remove preset");
  }
  if (use_ == DeckUse::evaluate && !has_held_out(d)) {
    add("data", "[data] has neither eval nor task", "eval = a file of held-out problems, or task = a built-in task",
        "eval = \"held_out.jsonl\"");
  }
}

void DataChecker::answers() {
  if (use_ != DeckUse::train || !learns_from_answers(deck_.algorithm) || deck_.faulty.count("algorithm.name") > 0 ||
      deck_.faulty.count("algorithm") > 0) {
    return;
  }
  const auto refuse = [this](const std::string& key, const std::string& table, const std::string& task) {
    if (task.empty()) return;
    add(key,
        fmt::format("{} task = {} draws problems, but algorithm '{}' learns from answers in a file", table, quote(task),
                    deck_.algorithm.name),
        "train = a file whose lines hold prompt, chosen and rejected",
        "name = \"online_dpo\" learns from answers that are drawn and judged");
  };
  refuse("data.task", "[data]", deck_.data.task);
  for (std::size_t i = 0; i < deck_.data.source.size(); ++i)
    refuse(fmt::format("data.source[{}].task", i), "[[data.source]]", deck_.data.source[i].task);
}

void DataChecker::order() {
  const DataTable& d = deck_.data;
  if (sound("data.order") && d.order != "curriculum" && d.curriculum_window != DataTable().curriculum_window) {
    add("data.curriculum_window", fmt::format("[data] curriculum_window has no effect with order = {}", quote(d.order)),
        "order = \"curriculum\"", "remove curriculum_window");
  }
}

void DataChecker::source(std::size_t i) {
  const DataSource& s = deck_.data.source[i];
  const std::string table = fmt::format("data.source[{}]", i);
  if (!sound(table) || !sound(table + ".train") || !sound(table + ".task")) return;
  if (s.train.empty() == s.task.empty()) {
    add(s.train.empty() ? table : table + ".task",
        fmt::format("[[data.source]] has {} train {} task", s.train.empty() ? "neither" : "both",
                    s.train.empty() ? "nor" : "and"),
        "a file of problems, or a built-in task", "train = \"problems.jsonl\"");
  }
  if (!s.task.empty() && !s.preset.empty()) {
    add(table + ".preset", fmt::format("[[data.source]] preset has no effect with task = {}", quote(s.task)),
        "a preset for files of others", "remove preset");
  }
  std::vector<std::string> known;
  for (const VerifierEntry& entry : verifiers()) known.emplace_back(entry.name);
  if (!s.verifier.empty() && std::find(known.begin(), known.end(), s.verifier) == known.end()) {
    add(table + ".verifier",
        fmt::format("[[data.source]] verifier = {} is not known{}", quote(s.verifier), did_you_mean(s.verifier, known)),
        fmt::format("one of {}", join(known, ", ")), "");
  }
  const std::string name = name_of_source(s);
  const bool plain =
      name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.") == std::string::npos;
  if (!plain) {
    add(table + ".name", fmt::format("[[data.source]] name = {} cannot stand in the name of a metric", quote(name)),
        "letters, digits, _ - and .", "name = \"mine\"");
  } else if (!name.empty() && !names_.insert(name).second) {
    add(table, fmt::format("[[data.source]] name = {} is that of another source", quote(name)), "every name once",
        fmt::format("name = {}", quote(name + "_2")));
  }
}

void DataChecker::shares() {
  std::vector<double> weights;
  for (std::size_t i = 0; i < deck_.data.source.size(); ++i) {
    if (!sound(fmt::format("data.source[{}].weight", i))) return;
    weights.push_back(deck_.data.source[i].weight);
  }
  const std::vector<std::int64_t> shares = shares_of_block(weights);
  for (std::size_t i = 0; i < shares.size(); ++i) {
    if (shares[i] > 0) continue;
    add(fmt::format("data.source[{}].weight", i),
        fmt::format("[[data.source]] weight = {} is less than a share of 1 in {}", weights[i], kMixBlock),
        "a weight that gives the source at least one problem of a block", "a larger weight, or remove the source");
  }
}

void DataChecker::sources() {
  if (deck_.data.source.empty()) return;
  for (std::size_t i = 0; i < deck_.data.source.size(); ++i) source(i);
  shares();
}

}  // namespace

std::string name_of_source(const DataSource& source) {
  if (!source.name.empty()) return source.name;
  return source.task.empty() ? std::filesystem::path(source.train).stem().string() : source.task;
}

bool has_held_out(const DataTable& data) {
  return !data.eval.empty() || !data.task.empty() ||
         std::any_of(data.source.begin(), data.source.end(), [](const DataSource& s) { return !s.task.empty(); });
}

bool brings_judges(const DataTable& data) {
  if (data.source.empty()) return !data.task.empty() || has_judge(data.preset);
  return std::all_of(data.source.begin(), data.source.end(), [&data](const DataSource& s) {
    return !s.task.empty() || !s.verifier.empty() || has_judge(s.preset.empty() ? data.preset : s.preset);
  });
}

void check_data(const Deck& deck, DeckUse use, std::vector<Fault>& faults) {
  DataChecker checker(deck, use, faults);
  const auto faulty = [&deck](const char* key) { return deck.faulty.count(key) > 0; };
  if (faulty("data")) return;
  if (!faulty("data.train") && !faulty("data.task") && !faulty("data.eval") && !faulty("data.source")) {
    checker.origin_of_problems();
    checker.answers();
  }
  checker.order();
  checker.sources();
}

}  // namespace maxplus
