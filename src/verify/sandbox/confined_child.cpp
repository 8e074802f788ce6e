#include "verify/sandbox/confined_child.hpp"

#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "verify/sandbox/landlock.hpp"
#include "verify/sandbox/seccomp_filter.hpp"
#include "verify/sandbox/self_test.hpp"
#include "verify/sandbox/setup_failure.hpp"
#include "verify/sandbox/user.hpp"

namespace maxplus {

namespace {

constexpr int kReportTo = 3;
constexpr rlim_t kMiB = 1048576;
constexpr rlim_t kOpenFiles = 256, kStack = 8 * kMiB, kSignals = 64;
constexpr int kNotStarted = 127;
constexpr std::size_t kBirthStack = std::size_t{1} << 18;

void set_limit(int resource, rlim_t most) {
  rlimit now{};
  require_done(::getrlimit(static_cast<__rlimit_resource_t>(resource), &now) == 0, "getrlimit");
  const rlimit wanted = {std::min(most, now.rlim_max), std::min(most, now.rlim_max)};
  require_done(::setrlimit(static_cast<__rlimit_resource_t>(resource), &wanted) == 0, "setrlimit");
}

void set_limits(const SandboxPolicy& policy, bool counted_alone) {
  set_limit(RLIMIT_CORE, 0);
  if (policy.memory_mb == 0) return;
  set_limit(RLIMIT_NOFILE, kOpenFiles);
  set_limit(RLIMIT_STACK, kStack);
  set_limit(RLIMIT_FSIZE, static_cast<rlim_t>(policy.files_mb) * kMiB);
  set_limit(RLIMIT_CPU, static_cast<rlim_t>(policy.cpu_s));
  set_limit(RLIMIT_MEMLOCK, 0);
  set_limit(RLIMIT_MSGQUEUE, 0);
  set_limit(RLIMIT_SIGPENDING, kSignals);
  set_limit(RLIMIT_RTPRIO, 0);
  if (counted_alone) set_limit(RLIMIT_NPROC, static_cast<rlim_t>(task_limit(policy)));
  set_limit(RLIMIT_AS, static_cast<rlim_t>(policy.memory_mb) * kMiB);
}

void default_signals() {
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  for (int number = 1; number < NSIG; ++number) ::sigaction(number, &standard, nullptr);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

void drop_capabilities() {
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  const __user_cap_data_struct none[2] = {};
  require_done(::syscall(SYS_capset, &header, none) == 0, "capset");
}

// 0, 1, 2 and the report of a failed start; nothing else stays open.
void arrange_descriptors(const ChildStart& start) {
  const int report = ::fcntl(start.failed, F_DUPFD, 16);  // out of the way
  require_done(report >= 0, "dup");
  require_done(::dup2(start.input, 0) == 0 && ::dup2(start.output, 1) == 1 && ::dup2(start.errors, 2) == 2, "dup2");
  require_done(::dup3(report, kReportTo, O_CLOEXEC) == kReportTo, "dup3");
#ifdef SYS_close_range
  if (::syscall(SYS_close_range, kReportTo + 1, ~0U, 0) == 0) return;
#endif
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  for (rlim_t i = kReportTo + 1; i < std::min<rlim_t>(files.rlim_cur, 65536); ++i) ::close(static_cast<int>(i));
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> list;
  for (const std::string& text : texts) list.push_back(const_cast<char*>(text.c_str()));  // execve only reads
  list.push_back(nullptr);
  return list;
}

void confine(const SandboxPolicy& policy, const ChildStart& start) {
  ::setsid();
  die_with(start.parent);
  require_done(start.folder.empty() || ::chdir(start.folder.c_str()) == 0, "chdir");
  default_signals();
  if (start.user) become_user(*start.user);
  if (policy.tier != Tier::none) {
    ::umask(0022);
    drop_capabilities();
    require_done(::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "no_new_privs");
  }
  die_with(start.parent);  // again: changing the user has undone it
  if (start.landlock >= 0) require_done(enforce_landlock(start.landlock), "landlock");
  arrange_descriptors(start);
  set_limits(policy, start.user.has_value() || policy.tier == Tier::namespaces);
  if (policy.tier != Tier::none) require_done(install_system_call_filter(policy), "seccomp");
}

// All that a child needs, made before it is born: it takes no memory that nobody would free.
struct Birth {
  const SandboxPolicy& policy;
  const ChildStart& start;
  std::vector<char*> argument, environment;
};

[[noreturn]] void become_confined(const Birth& birth) {
  int report = birth.start.failed;
  std::string why;
  try {
    confine(birth.policy, birth.start);
    report = kReportTo;
    if (birth.start.argument.empty()) {
      run_self_test(birth.policy, birth.start.probe, birth.start.outside);
      ::_exit(0);
    }
    ::execve(birth.argument[0], birth.argument.data(), birth.environment.data());
    why = std::string(birth.argument[0]) + ": " + std::strerror(errno);
  } catch (const std::exception& error) {
    why = error.what();
  }
  (void)!::write(report, why.data(), why.size());
  if (report != kReportTo) (void)!::write(kReportTo, why.data(), why.size());
  ::_exit(kNotStarted);
}

}  // namespace

void die_with(pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(kNotStarted);
}

pid_t start_confined(const SandboxPolicy& policy, const ChildStart& start) {
  const Birth birth = {policy, start, pointers(start.argument), pointers(policy.environment)};
  if (start.argument.empty()) {  // the self-test executes nothing, and so has memory of its own
    const pid_t child = ::fork();
    if (child == 0) become_confined(birth);
    return child;
  }
  void* stack = ::mmap(nullptr, kBirthStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (stack == MAP_FAILED) return -1;
  const auto begin = [](void* argument) -> int { become_confined(*static_cast<const Birth*>(argument)); };
  const int child = ::clone(begin, static_cast<char*>(stack) + kBirthStack, CLONE_VM | CLONE_VFORK | SIGCHLD,
                            const_cast<Birth*>(&birth));
  const int error = errno;
  ::munmap(stack, kBirthStack);
  errno = error;
  return child;
}

}  // namespace maxplus
