#pragma once
// What [data] points to, opened: files with or without a preset, a built-in task, or a mix of several; and what is told
// of them as data: problems that are asked twice, and that are trained on and held out.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "data/answer_file.hpp"
#include "run/inputs.hpp"

namespace maxplus {

struct ProblemInputs {
  std::shared_ptr<const Task> task;                      // of [data] task; none for files and mixes
  std::shared_ptr<const ProblemSource> train, held_out;  // null: none
  std::shared_ptr<const TrainingOrder> order;            // of train
  std::string verifier;                                  // the judge where [reward] names none; empty: none
  std::vector<std::string> notes;
};

// Throws with all faults of the deck's keys (78) or of files (65, 66).
ProblemInputs open_problems(const Deck& deck, InputsFor what, const OpenedModel& model);

// What the deck's problems, or demonstrations, bring where neither deck nor model has a tokenizer; null: nothing.
std::shared_ptr<const Tokenizer> tokenizer_of_tasks(const Deck& deck);

// The keys that the deck gives a task in [data] or in one of its sources; none where it is not there.
nlohmann::json data_keys_of_task(const DataTable& data, const std::string& task);

// A held-out file of `eval` is of problems, whatever the deck's algorithm.
bool trains_on_answers(const Deck& deck, InputsFor what);
// What the lines of its files must hold then.
AnswerFileOptions answer_rules(const Deck& deck, const OpenedModel& model, bool held_out);
// Tokens of the context that answers leave to prompts.
std::int64_t room_for_prompts(const Deck& deck, const ModelConfig& model);

Locate locate_in(const Deck& deck, const std::string& table);

}  // namespace maxplus
