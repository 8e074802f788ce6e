#pragma once
// Why a sandbox could not be made: the call that failed and the system's reason.

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>

namespace maxplus {

class SetupFailure : public std::runtime_error {
 public:
  explicit SetupFailure(const std::string& call) : std::runtime_error(call + ": " + std::strerror(errno)) {}
};

// `call` names what was tried last; errno says why not.
inline void require_done(bool done, const std::string& call) {
  if (!done) throw SetupFailure(call);
}

}  // namespace maxplus
