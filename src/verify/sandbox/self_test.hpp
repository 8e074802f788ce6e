#pragma once
// A tier is granted only after a program in it was refused what it must not do, by trying.

#include <sys/types.h>

#include <string>

#include "verify/sandbox/policy.hpp"

namespace maxplus {

// Runs in the sandbox: tries each forbidden thing and writes the names of those that succeeded to standard output, one
// a line, then "tried N".
void run_self_test(const SandboxPolicy& policy, const std::string& probe, pid_t outside);

inline constexpr int kSelfTests = 20;

}  // namespace maxplus
