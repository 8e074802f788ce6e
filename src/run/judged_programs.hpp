#pragma once
// Whether a command will start programs to judge answers, asked before MPI is: only then is a broker forked.

#include <memory>
#include <string>

#include "run/command_line.hpp"
#include "verify/sandbox/broker.hpp"

namespace maxplus {

// A broker if the command's deck, or a problem in its files, names a verifier that starts programs; null otherwise, and
// where the deck cannot be read (which is told later). Call before MPI_Init and before any thread.
std::shared_ptr<const Broker> broker_for(const CommandLine& line);

// What has to be said where programs run in no sandbox; empty for every other tier.
std::string unconfined_warning(const std::string& tier);

}  // namespace maxplus
