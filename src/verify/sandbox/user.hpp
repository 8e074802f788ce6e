#pragma once
// The user that a judged program becomes where we are root.

#include <sys/types.h>

#include <optional>

namespace maxplus {

// A user number that nobody has and that the kernel can count alone, one a process; nothing where this process cannot
// become it: it is not root, has lost the right, or is root only in a user namespace that has no such number.
std::optional<unsigned> spare_user(pid_t process);
// Gives up root for that number, and all groups. Throws SetupFailure.
void become_user(unsigned user);

}  // namespace maxplus
