#pragma once
// The broker: starts programs for us, so that no process that holds MPI, threads or a large memory ever forks.
//
// It is forked before MPI_Init and before any thread, and stays small. Each sandbox is a session with a keeper process
// of its own. When our program ends, by whatever means, the broker kills what is left. If the broker dies it is started
// once more; sessions that were open then fail, which is `crashed` for what they judged.

#include <sys/types.h>

#include <string>

#include "verify/sandbox/message.hpp"
#include "verify/sandbox/policy.hpp"

namespace maxplus {

class Broker {
 public:
  Broker();   // forks; throws Error(ExitCode::os)
  ~Broker();  // returns when all its processes are gone
  Broker(const Broker&) = delete;
  Broker& operator=(const Broker&) = delete;

  // A new session, not yet answered. Any thread. Throws Error(ExitCode::os) if the broker is gone.
  Descriptor open_session() const;
  pid_t id() const { return guard_; }

 private:
  pid_t guard_ = -1;
  Descriptor control_;
};

}  // namespace maxplus
