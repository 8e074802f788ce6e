#pragma once
// What a child does between fork and exec: it gives up everything, in an order in which nothing can be taken back.

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "verify/sandbox/policy.hpp"

namespace maxplus {

struct ChildStart {
  std::vector<std::string> argument;  // empty: the self-test in place of a program
  std::string probe;                  // of the self-test: a file outside that must stay out of reach
  pid_t outside = 0;                  // of the self-test: a process outside, as seen from here; 0: none can be seen
  int input = -1, output = -1, errors = -1;  // above 2
  int failed = -1;                           // errno and the name of a call are written here if the start fails
  std::string folder;
  std::optional<unsigned> user;  // to become, for one who is root
  int landlock = -1;             // a ruleset
  pid_t parent = 0;
};

// Starts the child; -1 with errno. It borrows our memory until it executes its program, so that no page table is copied
// (a keeper has the address space of the whole program); we stand still meanwhile.
pid_t start_confined(const SandboxPolicy& policy, const ChildStart& start);

void die_with(pid_t parent);  // now, if it is dead already

}  // namespace maxplus
