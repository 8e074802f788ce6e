#include "verify/sandbox/broker.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "base/error.hpp"
#include "verify/sandbox/broker_process.hpp"

namespace maxplus {

Broker::Broker() {
  SocketPair control = make_socket_pair();
  const pid_t program = ::getpid();
  guard_ = ::fork();
  if (guard_ == 0) run_broker_guard(control.theirs.number(), program);
  if (guard_ < 0)
    throw Error(ExitCode::os, Fault{"", fmt::format("the broker of judged programs: fork: {}", std::strerror(errno)),
                                    "", "check the limits on processes (ulimit -u)"});
  control_ = std::move(control.ours);
}

Broker::~Broker() {
  control_.close();
  ::kill(guard_, SIGTERM);  // from us it means the end
  ::kill(guard_, SIGCONT);
  while (::waitpid(guard_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

Descriptor Broker::open_session() const {
  SocketPair session = make_socket_pair();
  const int theirs = session.theirs.number();
  if (!send_message(control_.number(), {{"open", true}}, std::span<const int>(&theirs, 1)))
    throw Error(ExitCode::os, "the broker of judged programs is gone");
  return std::move(session.ours);
}

}  // namespace maxplus
