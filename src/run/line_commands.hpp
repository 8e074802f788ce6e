#pragma once
// Commands that work on lines without a model or ranks: score; and what `--help` of a verifier says.

#include <string>
#include <vector>

#include "run/command_line.hpp"

namespace maxplus {

// Each input line with "reward", "verdict" and "extracted" added, in the order of the file.
std::vector<std::string> score_lines(const CommandLine& line);

std::string verifier_help(const std::string& verifier);

}  // namespace maxplus
