#pragma once
// The keys by which a deck names a program of the user's that we start and talk to.

#include <optional>
#include <string>

#include "text/key_reader.hpp"
#include "verify/child_process.hpp"

namespace maxplus {

// `command`, `keep_environment`, `standard_error`. `folder`: where the program is looked for and started; empty: ours.
// Nothing if there was a fault, which the reader has.
std::optional<ChildProgram> read_child_program(KeyReader& keys, const std::string& folder);

}  // namespace maxplus
