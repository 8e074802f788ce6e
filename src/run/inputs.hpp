#pragma once
// What a deck points to, opened and checked before anything is allocated: network shape and starting weights,
// tokenizer, problems, task, demonstrations, judges.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data/answer_file.hpp"
#include "data/demonstration.hpp"
#include "data/problem_source.hpp"
#include "data/task.hpp"
#include "data/training_order.hpp"
#include "deck/tables.hpp"
#include "run/model_source.hpp"
#include "text/tokenizer.hpp"
#include "verify/environment.hpp"
#include "verify/reward_function.hpp"

namespace maxplus {

struct RunInputs {
  OpenedModel model;
  std::optional<OpenedModel> critic;              // of [critic] path, where that is a model's
  std::optional<OpenedModel> reference;           // of [reference] path, likewise
  std::optional<OpenedModel> reward_model;        // of [reward_model]
  std::string reference_hash, reward_model_hash;  // of their weights; empty without such a file
  std::shared_ptr<const Task> task;               // none for files
  std::shared_ptr<const ProblemSource> train;     // none where nothing is trained
  std::shared_ptr<const TrainingOrder> order;     // in which they are taken
  // Instead of drawn answers, for algorithms that learn from a file of them; absent otherwise.
  std::shared_ptr<const AnswerSource> answers, held_out_answers;
  std::vector<Problem> held_out;  // as many as [eval] problems asks for
  std::int64_t held_out_in_all = 0;
  std::int64_t longest_prompt = 1;    // over training and held-out problems
  std::int64_t longest_recorded = 0;  // of `replay` and of answers in a file: the longest prompt and response together
  std::shared_ptr<const RewardFunction> reward, evaluation_reward;
  std::shared_ptr<const Environment> environment;  // answers calls; null: rollouts make none
  std::vector<std::int32_t> stop;                  // token ids that end a rollout
  std::string sandbox;             // the weakest tier that judged programs run in; empty: none are started
  std::vector<std::string> notes;  // for the log: lines left out, problems that repeat others
};

// Names of the parts of a reward, the reward model's last; none where it is all one.
std::vector<std::string> reward_parts(const RunInputs& inputs);

// `train` needs training problems and a reward, `eval` held-out ones; `replay` takes both from its file.
enum class InputsFor { training, replay, evaluation };

// The keys of what a deck names (tokenizer, tasks of data and warm start, verifiers), as far as they need no file: adds
// their faults, so that they stand in one list with the deck's own. Tables in which a fault was already found are left
// alone.
void check_named(const Deck& deck, InputsFor what, std::vector<Fault>& faults);

// Throws with all faults of the deck's keys (78), of files (65, 66).
// `broker`: who starts judged programs; null: nothing will be judged.
RunInputs open_inputs(const Deck& deck, InputsFor what, std::shared_ptr<const Broker> broker);

// Demonstrations of a warm-start stage (index into [[warm_start.stage]], or -1: the table itself); adds a note for the
// log if lines of a file were left out.
std::shared_ptr<const DemonstrationSource> open_demonstrations(const Deck& deck, const RunInputs& inputs, int stage,
                                                               std::vector<std::string>* notes);

}  // namespace maxplus
