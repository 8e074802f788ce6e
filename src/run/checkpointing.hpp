#pragma once
// What a run puts into a checkpoint and takes out of it (the file itself: io/checkpoint_file).
//
// Tensors: "weights/NAME", "first_moment/NAME", "second_moment/NAME" and, with a reference that no file holds,
// "reference/NAME", for every published parameter name; "critic/NAME", "critic_first_moment/NAME" and
// "critic_second_moment/NAME" of a critic with a network of its own. Texts: the network's config, tokenizer, the
// published files that travel along, effective deck, build.

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "comm/communicator.hpp"
#include "deck/tables.hpp"
#include "io/checkpoint_file.hpp"
#include "ops/matmul.hpp"
#include "roles/engine.hpp"
#include "run/inputs.hpp"
#include "run/run_state.hpp"

namespace maxplus {

inline constexpr const char* kModelConfigText = "model_config";
inline constexpr const char* kCriticConfigText = "critic_config";
inline constexpr const char* kTokenizerText = "tokenizer";
inline constexpr const char* kDeckText = "deck";
inline constexpr const char* kDeckRecordText = "deck_record";
inline constexpr const char* kWeightsHashText = "weights_hash";
inline constexpr const char* kInputsText = "inputs";

// Identity of problems, tokenizer, network and arithmetic: a resume with other ones is refused (exit 78). A fault for
// each that differs between two records.
std::string inputs_record(const RunInputs& inputs, ops::Arithmetic arithmetic);
std::vector<Fault> changed_inputs(const std::string& path, const std::string& before, const std::string& now);

// Collective.
CheckpointReport save_run_checkpoint(const std::string& folder, const RunState& state, const Deck& deck,
                                     const RunInputs& inputs, Engine& engine, const Communicator& world,
                                     std::set<std::string>* verified);

// Collective. Fills weights, moments, reference and the optimizer's step. Throws Error(config), with all of them, where
// the deck or its inputs differ in a way that changes the run.
RunState load_run_checkpoint(const std::string& path, const Deck& deck, const RunInputs& inputs, Engine& engine,
                             const Communicator& world);

}  // namespace maxplus
