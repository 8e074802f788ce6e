#pragma once
// What a run puts into a checkpoint and takes out of it (the file itself: io/checkpoint_file).
//
// Tensors: "weights/NAME", "first_moment/NAME", "second_moment/NAME" and, with a reference that no file holds,
// "reference/NAME", for every published parameter name; "critic/NAME", "critic_first_moment/NAME" and
// "critic_second_moment/NAME" of a critic with a network of its own. "waiting/rollouts": what was drawn and not trained
// on when a schedule draws ahead; "parked/rollouts": groups that are to go on in the next iteration; "lengths/seen": of
// earlier rollouts, by problem, where dispatch asks for them; three bytes a number. Texts: the network's config,
// tokenizer, the published files that travel along, effective deck, build.

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "deck/tables.hpp"
#include "io/checkpoint_file.hpp"
#include "ops/matmul.hpp"
#include "roles/collected.hpp"
#include "roles/engine.hpp"
#include "roles/role_groups.hpp"
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
std::string inputs_record(const RunInputs& inputs, ops::Arithmetic arithmetic,
                          std::optional<ops::Arithmetic> drawing = {});  // of one that draws otherwise
std::vector<Fault> changed_inputs(const std::string& path, const std::string& before, const std::string& now);

// Bytes as numbers that a file of f32 keeps, and back.
std::vector<float> numbers_of_bytes(std::span<const std::byte> bytes);
std::vector<std::byte> bytes_of_numbers(std::span<const float> numbers, std::size_t bytes);

// What of the rollouts is under way, the same on every rank that learns: drawn and not trained on; not yet drawn whole.
struct UnderWay {
  std::span<const Collected> waiting;
  std::span<const Experience> parked;
  std::span<const std::byte> lengths;  // seen so far, packed
};

// Collective over the world; the ranks that learn write, each what its roles hold. The state is the same on all.
CheckpointReport save_run_checkpoint(const std::string& folder, const RunState& state, const Deck& deck,
                                     const RunInputs& inputs, Engine& engine, const RoleGroups& groups,
                                     const UnderWay& rollouts, std::set<std::string>* verified);

struct LoadedRun {
  RunState state;
  std::vector<Collected> waiting;
  std::vector<Experience> parked;
  std::vector<std::byte> lengths;
};
// Collective over the world. Fills weights, moments, reference and the optimizers' steps where they live; what ranks
// need of the policy that only generate is handed to them as in the loop. Throws Error(config), with all of them, where
// the deck or its inputs differ in a way that changes the run.
LoadedRun load_run_checkpoint(const std::string& path, const Deck& deck, const RunInputs& inputs, Engine& engine,
                              const RoleGroups& groups);

}  // namespace maxplus
