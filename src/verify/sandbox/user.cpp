#include "verify/sandbox/user.hpp"

#include <grp.h>
#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>

#include "verify/sandbox/setup_failure.hpp"

namespace maxplus {

namespace {

constexpr unsigned kFirstSpareUser = 0x30000000;

bool is_mapped(const char* map, unsigned number) {
  std::ifstream file(map);
  std::uint64_t inside = 0, outside = 0, count = 0;
  while (file >> inside >> outside >> count) {
    if (number >= inside && number - inside < count) return true;
  }
  return false;
}

bool may_change_user() {
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct held[2] = {};
  if (::geteuid() != 0 || ::syscall(SYS_capget, &header, held) != 0) return false;
  constexpr std::uint32_t kNeeded = 1U << CAP_SETUID | 1U << CAP_SETGID;
  return (held[0].effective & kNeeded) == kNeeded;
}

}  // namespace

std::optional<unsigned> spare_user(pid_t process) {
  const unsigned number = kFirstSpareUser + static_cast<unsigned>(process);
  if (!may_change_user() || !is_mapped("/proc/self/uid_map", number) || !is_mapped("/proc/self/gid_map", number))
    return std::nullopt;
  return number;
}

void become_user(unsigned user) {
  require_done(::setgroups(0, nullptr) == 0, "setgroups");
  require_done(::setresgid(user, user, user) == 0, "setresgid");
  require_done(::setresuid(user, user, user) == 0, "setresuid");
}

}  // namespace maxplus
