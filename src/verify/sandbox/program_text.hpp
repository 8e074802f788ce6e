#pragma once
// The judged text on its way into a sandbox: a sealed file in memory, copied to a read-only file.

#include <string>
#include <string_view>

#include "verify/sandbox/descriptor.hpp"

namespace maxplus {

Descriptor text_in_memory(std::string_view text);              // throws Error(ExitCode::os)
void write_program_text(int source, const std::string& path);  // throws SetupFailure; nothing if source is -1

}  // namespace maxplus
