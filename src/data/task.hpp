#pragma once
// Built-in tasks: problems, held-out problems and demonstrations that are functions of counters, so that a first run
// needs no file. A new task is one source file here and its line in the registry (task.cpp).

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "data/demonstration.hpp"
#include "data/problem_source.hpp"
#include "text/key_reader.hpp"
#include "text/tokenizer.hpp"

namespace maxplus {

class Task {
 public:
  virtual ~Task() = default;
  virtual std::string_view name() const = 0;
  virtual std::string_view verifier() const = 0;  // taken if the deck names none
  virtual std::shared_ptr<const Tokenizer> tokenizer() const = 0;
  virtual std::shared_ptr<const ProblemSource> train() const = 0;
  virtual std::shared_ptr<const ProblemSource> held_out() const = 0;              // disjoint from train()
  virtual std::shared_ptr<const DemonstrationSource> demonstrations() const = 0;  // of train() problems only
};

struct TaskEntry {
  std::string_view name;
  std::string_view meaning;
  // A null tokenizer: the task's own. Returns null if the reader has collected faults.
  std::shared_ptr<const Task> (*make)(KeyReader& keys, std::shared_ptr<const Tokenizer> tokenizer);
};

const std::vector<TaskEntry>& tasks();

// All faults of the keys at once as Error(ExitCode::config), with the places that `locate` knows. `keys` may hold the
// task's keys of [data], [warm_start] and a stage laid over each other: a task has one set of keys. A tokenizer of the
// deck must know the task's pieces.
std::shared_ptr<const Task> make_task(std::string_view name, const nlohmann::json& keys,
                                      std::shared_ptr<const Tokenizer> tokenizer, const Locate& locate);

// Keys with range, default and meaning, for --describe.
std::vector<KeyDescription> task_keys(std::string_view name);

}  // namespace maxplus
