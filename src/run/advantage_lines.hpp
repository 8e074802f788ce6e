#pragma once
// The command `advantage`: an estimator tried on rewards, a JSON object a line, in double from end to end.

#include <string>
#include <vector>

#include "run/command_line.hpp"

namespace maxplus {

// Each input line with "advantage" added (and "return", for gae), in the order of the file.
std::vector<std::string> advantage_lines(const CommandLine& line);

}  // namespace maxplus
