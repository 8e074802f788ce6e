#pragma once
// The filter of system calls (seccomp) that a sandboxed program runs under.
//
// It forbids what would reach outside whatever the file tree looks like: sockets, tracing, namespaces, mounts, keys,
// raw kernel interfaces. Everything else is allowed, so that interpreters and compilers of any language work.

#include "verify/sandbox/policy.hpp"

namespace maxplus {

// Of the calling thread and all it will execute; needs no_new_privs. False with errno if the kernel has no such
// filters. Takes no memory: may be called between fork and exec.
bool install_system_call_filter(const SandboxPolicy& policy);

}  // namespace maxplus
