#pragma once
// Errors that end the program: what was found, what was expected, what to do, and the exit code.
//
// Codes follow sysexits.h because the low ones belong to MPI and those above 128 to signals. A scheduler's script
// needs one rule: start again on 75 and 80.

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace maxplus {

enum class ExitCode : int {
  ok = 0,
  usage = 64,          // bad command line
  data = 65,           // content of a prompt, weight or checkpoint file
  no_input = 66,       // a file is missing or unreadable
  unavailable = 69,    // a device, sandbox or library is missing
  software = 70,       // a broken invariant: our bug
  os = 71,             // out of memory, process limit
  cannot_create = 73,  // output folder
  io = 74,             // disk full, read or write error
  temporary = 75,      // start me again from the newest checkpoint
  protocol = 76,       // ranks disagree
  config = 78,         // the deck
  numeric = 79,        // a number that is not finite
  suspect = 80,        // replicas differ
};

// One thing that is wrong. `where` is "file:line" or empty; `expected` and `advice` may be empty.
struct Fault {
  std::string where;
  std::string found;
  std::string expected;
  std::string advice;
};

class Error : public std::runtime_error {
 public:
  Error(ExitCode code, Fault fault);
  Error(ExitCode code, std::vector<Fault> faults);  // precondition: not empty
  Error(ExitCode code, std::string found);

  ExitCode code() const { return code_; }
  const std::vector<Fault>& faults() const { return faults_; }

 private:
  ExitCode code_;
  std::vector<Fault> faults_;
};

// "maxplus: error: deck.toml:31: text\n  expected: ...\n  try: ...\n", one such block a fault.
std::string format_faults(const std::vector<Fault>& faults);

// A broken invariant is our bug: throws Error(ExitCode::software) with file and line of the caller.
[[noreturn]] void fail_invariant(const char* condition, const char* file, int line, const std::string& detail);

}  // namespace maxplus

// A precondition that only a bug can break. The detail is built only on failure.
#define MAXPLUS_REQUIRE(condition, detail)                                               \
  do {                                                                                   \
    if (!(condition)) ::maxplus::fail_invariant(#condition, __FILE__, __LINE__, detail); \
  } while (false)
