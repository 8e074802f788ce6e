// The guard and the broker. The broker's only work is to fork a keeper for each session that it is handed.
#include "verify/sandbox/broker_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>

#include <fmt/format.h>

#include "verify/sandbox/message.hpp"
#include "verify/sandbox/scratch_folder.hpp"
#include "verify/sandbox/supervisor.hpp"

namespace maxplus {

namespace {

constexpr int kControl = 3;
constexpr int kRestarts = 1;

void keep_only(int control) {
  const int nothing = ::open("/dev/null", O_RDWR);
  for (int i = 0; i < 3; ++i) ::dup2(nothing, i);
  ::dup2(control, kControl);
#ifdef SYS_close_range
  if (::syscall(SYS_close_range, kControl + 1, ~0U, 0) == 0) return;
#endif
  for (int i = kControl + 1; i < 65536; ++i) ::close(i);
}

void plain_signals() {
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  for (int number = 1; number < NSIG; ++number) ::sigaction(number, &standard, nullptr);
}

// Where we are root, programs become another user, who must get through every folder on the way.
bool can_be_reached(const std::string& folder) {
  if (::geteuid() != 0) return true;
  for (std::size_t end = folder.find('/', 1);; end = folder.find('/', end + 1)) {
    struct stat status {};
    if (::stat(folder.substr(0, end).c_str(), &status) != 0 || (status.st_mode & S_IXOTH) == 0) return false;
    if (end == std::string::npos) return true;
  }
}

std::string scratch_base(pid_t guard) {
  const char* named = std::getenv("TMPDIR");
  const std::string folder = named != nullptr && named[0] == '/' && can_be_reached(named) ? named : "/tmp";
  return fmt::format("{}/maxplus-sandbox-{}", folder, guard);
}

[[noreturn]] void serve_sessions(const std::string& scratch) {
  sigset_t chld;
  ::sigemptyset(&chld);
  ::sigaddset(&chld, SIGCHLD);
  const Descriptor children(::signalfd(-1, &chld, SFD_CLOEXEC | SFD_NONBLOCK));
  std::array<pollfd, 2> watched = {{{kControl, POLLIN, 0}, {children.number(), POLLIN, 0}}};
  for (;;) {
    if (::poll(watched.data(), watched.size(), -1) < 0) continue;
    if (watched[1].revents != 0) {
      signalfd_siginfo info;
      while (::read(children.number(), &info, sizeof info) > 0) {
      }
      while (::waitpid(-1, nullptr, WNOHANG) > 0) {
      }
    }
    if (watched[0].revents == 0) continue;
    std::optional<Message> message = receive_message(kControl);
    if (!message && ::recv(kControl, nullptr, 0, MSG_PEEK | MSG_DONTWAIT) == 0) ::_exit(0);  // our program is gone
    if (!message || message->descriptor.size() != 1) continue;
    const pid_t me = ::getpid();
    if (::fork() == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::getppid() != me) ::_exit(0);
      ::close(kControl);
      ::close(children.number());
      supervise(message->descriptor[0].number(), scratch);
    }
  }
}

pid_t fork_broker(const std::string& scratch) {
  const pid_t guard = ::getpid();
  const pid_t broker = ::fork();
  if (broker != 0) return broker;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != guard) ::_exit(0);
  serve_sessions(scratch);
}

}  // namespace

void run_broker_guard(int control, pid_t program) {
  keep_only(control);
  plain_signals();
  ::setsid();
  ::prctl(PR_SET_NAME, "maxplus-broker");
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  sigset_t all;
  ::sigfillset(&all);  // the batch system's signals are for the program; ours come through sigwaitinfo
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  const std::string scratch = scratch_base(::getpid());
  pid_t broker = fork_broker(scratch);
  int restarts = 0;
  bool goes_on = ::getppid() == program && broker > 0;
  while (goes_on) {
    siginfo_t info{};
    if (::sigwaitinfo(&all, &info) < 0) continue;
    if (::getppid() != program || (info.si_signo == SIGTERM && info.si_pid == program)) break;
    int status = 0;
    pid_t ended = 0;
    while ((ended = ::waitpid(-1, &status, WNOHANG)) > 0) {
      if (ended != broker) continue;
      end_descendants();  // keepers that it left; their sessions see the end
      goes_on = !(WIFEXITED(status) && WEXITSTATUS(status) == 0) && restarts++ < kRestarts;
      if (goes_on) broker = fork_broker(scratch);
      break;
    }
  }
  end_descendants();
  remove_tree(scratch);
  ::_exit(0);
}

}  // namespace maxplus
