// Starting, feeding and ending a child. Between vfork and execve only system calls are made: the child shares our
// memory.
#include "verify/child_process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>

#include <fmt/format.h>

#include "base/error.hpp"

namespace maxplus {

namespace {

constexpr int kFirstFree = 3;
constexpr int kNotExecutable = 127;

[[noreturn]] void fail_os(const char* call) {
  throw Error(ExitCode::os,
              Fault{"", fmt::format("a program of the verifier cannot be started: {}: {}", call, std::strerror(errno)),
                    "", "check the limits on processes and open files (ulimit -u, -n)"});
}

// Everything the child needs, made beforehand.
struct Start {
  const char* path;
  char* const* argument;
  char* const* environment;
  const char* folder;  // null: ours
  int input, output, errors;
  int most_descriptors;
  pid_t parent;
};

[[noreturn]] void become_program(const Start& start) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != start.parent) ::_exit(kNotExecutable);  // it died in between
  if (::dup2(start.input, 0) < 0 || ::dup2(start.output, 1) < 0 || ::dup2(start.errors, 2) < 0) ::_exit(kNotExecutable);
#ifdef SYS_close_range
  const bool closed = ::syscall(SYS_close_range, kFirstFree, ~0U, 0) == 0;
#else
  const bool closed = false;
#endif
  for (int i = kFirstFree; !closed && i < start.most_descriptors; ++i) ::close(i);
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  for (int number = 1; number < NSIG; ++number) ::sigaction(number, &standard, nullptr);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (start.folder != nullptr && ::chdir(start.folder) != 0) ::_exit(kNotExecutable);
  ::execve(start.path, start.argument, start.environment);
  ::_exit(kNotExecutable);
}

__attribute__((noinline)) pid_t start_child(const Start& start) {
  const pid_t id = ::vfork();
  if (id == 0) become_program(start);
  return id;
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> list;
  for (const std::string& text : texts)
    list.push_back(const_cast<char*>(text.c_str()));  // execve does not write to them
  list.push_back(nullptr);
  return list;
}

// Both ends close on exec and lie above the three standard ones, so that dup2 in the child cannot overwrite one.
void make_pipe(int (&end)[2]) {
  int raw[2];
  if (::pipe2(raw, O_CLOEXEC) != 0) fail_os("pipe");
  for (int i = 0; i < 2; ++i) {
    end[i] = raw[i] >= kFirstFree ? raw[i] : ::fcntl(raw[i], F_DUPFD_CLOEXEC, kFirstFree);
    if (end[i] != raw[i]) ::close(raw[i]);
  }
}

bool may_execute(const std::filesystem::path& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && ::access(path.c_str(), X_OK) == 0;
}

}  // namespace

ChildProcess::ChildProcess(const ChildProgram& program) {
  int to_child[2], from_child[2];
  make_pipe(to_child);
  make_pipe(from_child);
  const int nothing = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  const int errors = program.errors == ChildErrors::inherit ? 2 : ::fcntl(nothing, F_DUPFD_CLOEXEC, kFirstFree);
  const std::vector<char*> argument = pointers(program.argument), environment = pointers(program.environment);
  const long most = ::sysconf(_SC_OPEN_MAX);
  const Start start = {program.argument[0].c_str(),
                       argument.data(),
                       environment.data(),
                       program.folder.empty() ? nullptr : program.folder.c_str(),
                       to_child[0],
                       from_child[1],
                       errors,
                       static_cast<int>(most > 0 && most < 65536 ? most : 65536),
                       ::getpid()};
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);  // no handler of ours may run in the child
  id_ = start_child(start);
  const int error = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::close(to_child[0]);
  ::close(from_child[1]);
  ::close(nothing);
  if (errors != 2) ::close(errors);
  input_ = to_child[1];
  output_ = from_child[0];
  if (id_ < 0) {
    ::close(input_);
    ::close(output_);
    errno = error;
    fail_os("vfork");
  }
  for (const int end : {input_, output_}) ::fcntl(end, F_SETFL, ::fcntl(end, F_GETFL) | O_NONBLOCK);
}

ChildProcess::~ChildProcess() {
  stop();
  ::close(output_);
}

void ChildProcess::close_input() {
  if (input_ >= 0) ::close(input_);
  input_ = -1;
}

bool ChildProcess::has_ended() {
  if (id_ < 0) return true;
  siginfo_t info{};
  if (::waitid(P_PID, static_cast<id_t>(id_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0)
    return false;
  stop();  // before its number is free again: also what it left behind in its group
  return true;
}

void ChildProcess::stop() {
  close_input();
  if (id_ < 0) return;
  ::kill(-id_, SIGKILL);
  ::kill(id_, SIGKILL);  // it may not have made its group yet
  while (::waitpid(id_, nullptr, 0) < 0 && errno == EINTR) {
  }
  id_ = -1;
}

std::string find_program(const std::string& name, const std::string& folder) {
  const auto from = [&folder](const std::filesystem::path& path) {
    return path.is_absolute() || folder.empty() ? path : std::filesystem::absolute(folder) / path;
  };
  if (name.find('/') != std::string::npos)
    return may_execute(from(name)) ? std::filesystem::absolute(from(name)).string() : "";
  const char* variable = std::getenv("PATH");
  std::string_view rest = variable != nullptr ? variable : "/usr/local/bin:/usr/bin:/bin";
  while (!rest.empty() && !name.empty()) {
    const std::string_view part = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(part.size() + 1, rest.size()));
    const std::filesystem::path candidate = from(std::filesystem::path(part.empty() ? "." : part) / name);
    if (may_execute(candidate)) return std::filesystem::absolute(candidate).string();
  }
  return "";
}

}  // namespace maxplus
