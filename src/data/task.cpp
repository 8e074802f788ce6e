// The registry of tasks.
#include "data/task.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "data/arithmetic.hpp"
#include "data/countdown.hpp"
#include "data/graph_paths.hpp"
#include "data/letter_counting.hpp"
#include "data/operators.hpp"
#include "data/sorting.hpp"
#include "data/word_problems.hpp"
#include "text/utf8.hpp"

namespace maxplus {

namespace {

const TaskEntry* find_task(std::string_view name) {
  for (const TaskEntry& entry : tasks()) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

}  // namespace

const std::vector<TaskEntry>& tasks() {
  static const std::vector<TaskEntry> entries = {
      {"operators", "fill in two operators between three numbers so that, from left to right, the target comes out",
       make_operators_task},
      {"countdown", "combine the given numbers, each once, to reach the target", make_countdown_task},
      {"word_problems", "one-step word problems of six kinds, for pretrained models", make_word_problems_task},
      {"arithmetic", "work out a chain of sums, differences and products", make_arithmetic_task},
      {"sorting", "put numbers into ascending order", make_sorting_task},
      {"letter_counting", "count a letter in a word", make_letter_counting_task},
      {"graph_paths", "find a path, or a shortest one, between two nodes of a graph", make_graph_paths_task},
  };
  return entries;
}

std::shared_ptr<const Task> make_task(std::string_view name, const nlohmann::json& keys,
                                      std::shared_ptr<const Tokenizer> tokenizer, const Locate& locate) {
  const TaskEntry* entry = find_task(name);
  if (entry == nullptr) {
    std::vector<std::string> names;
    for (const TaskEntry& known : tasks()) names.emplace_back(known.name);
    const std::string near = nearest_name(name, names);
    throw Error(ExitCode::config, Fault{locate ? locate("task") : "",
                                        fmt::format("unknown task {}{}", in_quotes(name),
                                                    near.empty() ? "" : fmt::format("; did you mean '{}'?", near)),
                                        fmt::format("one of {}", fmt::join(names, ", ")),
                                        fmt::format("task = \"{}\"", near.empty() ? names[0] : near)});
  }
  KeyReader reader(keys, fmt::format("task \"{}\"", name), locate);
  auto task = entry->make(reader, std::move(tokenizer));
  reader.refuse_unknown();
  if (!reader.faults().empty()) throw Error(ExitCode::config, reader.faults());
  MAXPLUS_REQUIRE(task != nullptr, fmt::format("task {} without faults", name));
  return task;
}

std::vector<KeyDescription> task_keys(std::string_view name) {
  const TaskEntry* entry = find_task(name);
  MAXPLUS_REQUIRE(entry != nullptr, std::string(name));
  const nlohmann::json none = nlohmann::json::object();
  KeyReader reader(none, std::string(name), Locate());
  entry->make(reader, nullptr);
  return reader.descriptions();
}

}  // namespace maxplus
