#pragma once
// Namespaces of a sandbox: users, processes, files, network, IPC, host name.

#include <string>

#include "verify/sandbox/policy.hpp"

namespace maxplus {

enum class UserNamespace { own, shared };

// The calling process gets new namespaces; the next child it forks is the first process in them. Without a user
// namespace of its own this needs the privileges of root. Throws SetupFailure.
void enter_new_namespaces(UserNamespace users);

// In that child: a file tree in memory that shows the system's folders read-only, an empty /work of the policy's size
// and the program's text as /program. Everything else is gone for good.
void build_file_tree(const SandboxPolicy& policy, int program);
// Puts another text in its place. No program may run in the sandbox.
void renew_program(int program);
// Empties /work, whatever a program left there; `owner`: who may write.
void renew_scratch(const SandboxPolicy& policy, unsigned owner);

inline constexpr const char* kScratch = "/work";

}  // namespace maxplus
