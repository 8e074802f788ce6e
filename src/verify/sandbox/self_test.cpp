// The forbidden things, each tried once.
#include "verify/sandbox/self_test.hpp"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/ipc.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include <fmt/format.h>

namespace maxplus {

namespace {

bool opens(const char* path, int flags) {
  const int file = ::open(path, flags | O_CLOEXEC, 0600);
  if (file >= 0) ::close(file);
  return file >= 0;
}

bool makes_process() {
  const pid_t id = static_cast<pid_t>(::syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr));
  if (id == 0) ::_exit(0);
  if (id > 0) ::waitpid(id, nullptr, 0);
  return id > 0;
}

bool reads_memory_of(pid_t other) {
  char byte = 0;
  const iovec here = {&byte, 1}, there = {&byte, 1};
  return ::process_vm_readv(other, &here, 1, &there, 1, 0) == 1;
}

bool has_other_descriptors() {
  for (int i = 4; i < 256; ++i) {  // 3 closes on exec
    if (::fcntl(i, F_GETFD) >= 0) return true;
  }
  return false;
}

bool raises_limit(const SandboxPolicy& policy) {
  rlimit now{};
  ::getrlimit(RLIMIT_AS, &now);
  const rlim_t most = static_cast<rlim_t>(policy.memory_mb) << 20;
  if (now.rlim_max > most) return true;
  const rlimit wanted = {most * 2, most * 2};
  return ::setrlimit(RLIMIT_AS, &wanted) == 0;
}

bool changes(const std::string& probe) {
  return ::truncate(probe.c_str(), 0) == 0 || ::chmod(probe.c_str(), 0600) == 0 || ::unlink(probe.c_str()) == 0 ||
         ::rename(probe.c_str(), (probe + "2").c_str()) == 0;
}

}  // namespace

void run_self_test(const SandboxPolicy& policy, const std::string& probe, pid_t outside) {
  const pid_t other = outside > 0 ? outside : ::getppid();
  struct Attempt {
    const char* name;
    bool succeeded;
  };
  const std::array<Attempt, kSelfTests> attempts = {{
      {"an Internet socket", ::socket(AF_INET, SOCK_STREAM, 0) >= 0},
      {"a Unix socket", ::socket(AF_UNIX, SOCK_DGRAM, 0) >= 0},
      {"a netlink socket", ::socket(AF_NETLINK, SOCK_RAW, 0) >= 0},
      {"another process", policy.processes == 1 && makes_process()},
      {"a signal to a process outside", outside > 0 && ::kill(outside, 0) == 0},
      {"tracing", ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == 0},
      {"memory of another process", reads_memory_of(other)},
      {"a user namespace", ::unshare(CLONE_NEWUSER) == 0},
      {"a mount", ::mount("tmpfs", "/", "tmpfs", 0, nullptr) == 0},
      {"/proc of another process", opens(fmt::format("/proc/{}/environ", other).c_str(), O_RDONLY)},
      {"a foreign file", opens(probe.c_str(), O_RDONLY)},
      {"writing a foreign file", opens(probe.c_str(), O_WRONLY)},
      {"changing a foreign file", changes(probe)},
      {"a new file in /", opens("/maxplus-self-test", O_CREAT | O_WRONLY)},
      {"a new file in /usr", opens("/usr/maxplus-self-test", O_CREAT | O_WRONLY)},
      {"shared memory", ::shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600) >= 0},
      {"the kernel's key ring", ::syscall(SYS_keyctl, 0, -3, 1) >= 0},
      {"io_uring", ::syscall(425, 1, nullptr) >= 0},
      {"more memory", raises_limit(policy)},
      {"descriptors of ours", has_other_descriptors()},
  }};
  std::string text;
  for (const Attempt& attempt : attempts) {
    if (attempt.succeeded) text += fmt::format("{}\n", attempt.name);
  }
  text += fmt::format("tried {}\n", attempts.size());
  (void)!::write(1, text.data(), text.size());
}

}  // namespace maxplus
