#pragma once
// The commands that work on a model and lines: generate, logprob, tokenize; and eval on a deck.
//
// Each returns its output lines in the order of its input; whoever calls writes them (rank 0). Lines are dealt to the
// ranks.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "comm/environment.hpp"
#include "deck/tables.hpp"
#include "roles/evaluation.hpp"
#include "run/command_line.hpp"

namespace maxplus {

// Collective. `deck`: [model] path is the model, compute and threads are used. One recorded rollout a line.
std::vector<std::string> generate_lines(const Deck& deck, const std::filesystem::path& problems,
                                        const GenerateOptions& options, const MpiEnvironment& mpi,
                                        const Communicator& world);

// Collective. Lines {"ids"} or {"text"} to {"ids", "log_prob", "entropy"}.
std::vector<std::string> logprob_lines(const Deck& deck, const std::filesystem::path& file, double temperature,
                                       const MpiEnvironment& mpi, const Communicator& world);

// Lines {"text"} to {"ids", "pieces"}, {"ids"} to {"text"}.
std::vector<std::string> tokenize_lines(const Deck& deck, const std::filesystem::path& file, TokenizeOptions options);

// Collective. Held-out accuracy of a model (empty path: the deck's) under a deck.
EvaluationResult evaluate_deck(const Deck& deck, const std::filesystem::path& model, const MpiEnvironment& mpi,
                               const Communicator& world, std::shared_ptr<const Broker> broker);

}  // namespace maxplus
