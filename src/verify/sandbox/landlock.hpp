#pragma once
// File access by Landlock: read the system, write the scratch folder, nothing else.

#include <string>
#include <vector>

namespace maxplus {

struct LandlockRules {
  std::vector<std::string> readable;  // files and folders with all below; those that are missing are left out
  std::vector<std::string> writable;  // files (devices)
  std::string scratch;                // a folder to do anything in
};

// A ruleset as a descriptor; -1 with errno if the kernel has no Landlock.
int make_landlock_ruleset(const LandlockRules& rules);
// Confines the calling thread and all it will execute; needs no_new_privs. False with errno.
bool enforce_landlock(int ruleset);

}  // namespace maxplus
