// In tier `namespaces` the keeper is the first process of its process namespace: one kill reaches all others, and when
// it ends the kernel ends them. In the other tiers it is a subreaper: whatever loses its parent becomes its child.
#include "verify/sandbox/supervisor.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <optional>

#include <fmt/format.h>

#include "verify/sandbox/confined_child.hpp"
#include "verify/sandbox/landlock.hpp"
#include "verify/sandbox/message.hpp"
#include "verify/sandbox/namespaces.hpp"
#include "verify/sandbox/program_text.hpp"
#include "verify/sandbox/scratch_folder.hpp"
#include "verify/sandbox/setup_failure.hpp"
#include "verify/sandbox/user.hpp"

namespace maxplus {

namespace {

constexpr unsigned kOwnerInside = 1000;
constexpr int kWatchMs = 50;

void write_text(const char* path, std::string_view text) {
  const Descriptor file(::open(path, O_WRONLY | O_CLOEXEC));
  if (file) (void)!::write(file.number(), text.data(), text.size());
}

struct ProcessFacts {
  pid_t parent = -1;
  long threads = 0;
};

ProcessFacts facts_of(const std::string& id) {
  std::ifstream file("/proc/" + id + "/stat");
  std::string line;
  std::getline(file, line);
  const std::size_t name_end = line.rfind(')');  // the name may hold anything
  ProcessFacts facts;
  if (name_end == std::string::npos) return facts;
  (void)std::sscanf(line.c_str() + name_end + 1,
                    " %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %ld", &facts.parent,
                    &facts.threads);
  return facts;
}

class Keeper {
 public:
  Keeper(int session, std::string scratch) : session_(session), base_(std::move(scratch)) {}
  ~Keeper() {
    if (!own_folder_.empty()) remove_tree(own_folder_);
  }

  void open(const Message& message);  // throws SetupFailure
  void serve();
  bool confined_by_namespaces() const { return policy_.tier == Tier::namespaces; }

 private:
  void fork_first_process();
  void prepare_folder(int program);
  void prepare_landlock();
  void take_text(const Message& message);
  void run(Message message);
  std::string start(Message& message);  // why not; empty: it runs
  void watch();                         // ends what had too much where the kernel does not see to it
  bool wait();                          // false: the session is gone
  void report_end();

  int session_;
  std::string base_, own_folder_, scratch_;
  SandboxPolicy policy_;
  std::optional<unsigned> user_;
  Descriptor landlock_, children_;
  pid_t child_ = -1, outside_ = 0;
  int status_ = 0;
  rusage usage_{};
  std::string over_;  // what the program had too much of
};

// The parent waits for the first process of the namespace and leaves with it.
void Keeper::fork_first_process() {
  const pid_t first = ::fork();
  if (first < 0) throw SetupFailure("fork");
  if (first > 0) {
    ::close(session_);
    while (::waitpid(first, nullptr, 0) < 0 && errno == EINTR) {
    }
    ::_exit(0);
  }
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // the session's end ends it too, should the parent be gone already
}

void Keeper::prepare_folder(int program) {
  make_own_folder(base_);
  own_folder_ = fmt::format("{}/{}", base_, ::getpid());
  make_own_folder(own_folder_);
  scratch_ = own_folder_ + "/work";
  if (::mkdir(scratch_.c_str(), 0700) != 0) throw SetupFailure("mkdir " + scratch_);
  if (user_ && ::chown(scratch_.c_str(), *user_, *user_) != 0) throw SetupFailure("chown " + scratch_);
  write_program_text(program, own_folder_ + "/" + kProgramName);
}

// Rules name files, not paths, and so are made anew for other files.
void Keeper::prepare_landlock() {
  if (policy_.tier != Tier::landlock) return;
  LandlockRules rules;
  rules.readable.assign(std::begin(kSystemFolders), std::end(kSystemFolders));
  rules.readable.insert(rules.readable.end(), std::begin(kSystemFiles), std::end(kSystemFiles));
  rules.readable.insert(rules.readable.end(), policy_.read_only.begin(), policy_.read_only.end());
  rules.readable.push_back(own_folder_ + "/" + kProgramName);
  rules.writable.assign(std::begin(kDevices), std::end(kDevices));
  rules.scratch = scratch_;
  landlock_ = Descriptor(make_landlock_ruleset(rules));
  if (!landlock_) throw SetupFailure("Landlock");
}

void Keeper::open(const Message& message) {
  policy_ = policy_of(message.body.at("policy"));
  const int program = message.descriptor.empty() ? -1 : message.descriptor[0].number();
  if (policy_.tier != Tier::none) write_text("/proc/self/oom_score_adj", "1000");  // before any rank
  if (policy_.tier != Tier::none) user_ = spare_user(::getpid());
  if (policy_.tier == Tier::namespaces && !policy_.own_users && !user_) {
    errno = EPERM;
    throw SetupFailure("a user to run as");
  }
  if (policy_.tier == Tier::namespaces) {
    const pid_t parent = ::getppid();
    if (user_ && policy_.own_users) {
      become_user(*user_);
      ::prctl(PR_SET_DUMPABLE, 1);  // or our own maps of users could not be written
    }
    enter_new_namespaces(policy_.own_users ? UserNamespace::own : UserNamespace::shared);
    die_with(parent);  // again: changing the user has undone it
    fork_first_process();
    ::prctl(PR_SET_DUMPABLE, 0);
    if (policy_.own_users) user_.reset();
    build_file_tree(policy_, program);
    scratch_ = kScratch;
  } else {
    if (::prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) throw SetupFailure("subreaper");
    outside_ = ::getppid();
    if (policy_.tier == Tier::landlock || program >= 0) prepare_folder(program);
  }
  for (std::string& variable : policy_.environment) {
    const std::size_t place = variable.find(kScratchPlace);
    if (place != std::string::npos) variable.replace(place, std::string_view(kScratchPlace).size(), scratch_);
  }
  prepare_landlock();
  sigset_t chld;
  ::sigemptyset(&chld);
  ::sigaddset(&chld, SIGCHLD);
  ::sigprocmask(SIG_BLOCK, &chld, nullptr);
  children_ = Descriptor(::signalfd(-1, &chld, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!children_) throw SetupFailure("signalfd");
}

std::string Keeper::start(Message& message) {
  if (message.descriptor.size() != 3) return "three descriptors are needed";
  if (policy_.tier == Tier::namespaces) renew_scratch(policy_, user_ ? *user_ : kOwnerInside);
  int report[2];
  if (::pipe2(report, O_CLOEXEC) != 0) return SetupFailure("pipe").what();
  const Descriptor reading(report[0]);
  Descriptor writing(report[1]);
  ChildStart start;
  if (message.body.contains("argument")) message.body.at("argument").get_to(start.argument);
  if (message.body.contains("probe")) message.body.at("probe").get_to(start.probe);
  start.outside = outside_;
  start.input = message.descriptor[0].number();
  start.output = message.descriptor[1].number();
  start.errors = message.descriptor[2].number();
  start.failed = writing.number();
  start.folder = scratch_.empty() ? policy_.folder : scratch_;
  if (policy_.tier == Tier::none && !policy_.folder.empty()) start.folder = policy_.folder;
  // Folders above may be closed to the program's user, so the way to the text starts at the scratch folder.
  const std::string text = (own_folder_.empty() ? "/" : "../") + std::string(kProgramName);
  for (std::string& one : start.argument) {
    if (one == kProgramPlace) one = text;
  }
  start.user = user_;
  start.landlock = landlock_.number();
  start.parent = ::getpid();
  child_ = start_confined(policy_, start);
  if (child_ < 0) return SetupFailure("fork").what();
  writing.close();
  message.descriptor.clear();  // the reader of the output waits for the last holder to close it
  std::array<char, 256> why{};
  ssize_t bytes = 0;
  do {
    bytes = ::read(reading.number(), why.data(), why.size());  // ends with the exec, or with the child
  } while (bytes < 0 && errno == EINTR);
  return bytes > 0 ? std::string(why.data(), static_cast<std::size_t>(bytes)) : "";
}

// Files and threads of a program without namespaces, the one process that it is.
void Keeper::watch() {
  if (holds_more_than(scratch_, policy_.files_mb << 20)) {
    over_ = kOverFiles;
  } else if (facts_of(std::to_string(child_)).threads > task_limit(policy_)) {
    over_ = kOverThreads;
  } else {
    return;
  }
  ::kill(child_, SIGKILL);
}

// Until the program itself has ended; the rest is then killed.
bool Keeper::wait() {
  std::array<pollfd, 2> watched = {{{session_, POLLIN, 0}, {children_.number(), POLLIN, 0}}};
  const bool watched_by_us = policy_.tier == Tier::landlock;
  for (;;) {
    pid_t id = 0;
    int status = 0;
    rusage usage{};
    while ((id = ::wait4(-1, &status, WNOHANG, &usage)) > 0) {
      if (id != child_) continue;
      status_ = status;
      usage_ = usage;
      child_ = -1;
      return true;
    }
    if (::poll(watched.data(), watched.size(), watched_by_us ? kWatchMs : -1) < 0 && errno != EINTR) return false;
    if (watched[1].revents != 0) {
      signalfd_siginfo info;
      while (::read(children_.number(), &info, sizeof info) > 0) {
      }
    }
    if (watched[0].revents != 0) {
      if (!receive_message(session_)) return false;
      ::kill(child_, SIGKILL);  // all that may be said now is "stop"
    }
    if (watched_by_us) watch();
  }
}

void Keeper::report_end() {
  const auto milliseconds = [](const timeval& time) { return 1000 * time.tv_sec + time.tv_usec / 1000; };
  nlohmann::json end = {{"end", WIFEXITED(status_) ? "exited" : "killed"},
                        {"code", WIFEXITED(status_) ? WEXITSTATUS(status_) : WTERMSIG(status_)},
                        {"cpu_ms", milliseconds(usage_.ru_utime) + milliseconds(usage_.ru_stime)},
                        {"over", over_}};
  send_message(session_, end, {});
}

void Keeper::take_text(const Message& message) {
  if (message.descriptor.size() != 1) throw std::runtime_error("a text that cannot be taken");
  const int program = message.descriptor[0].number();
  if (confined_by_namespaces()) {
    renew_program(program);
  } else {
    if (!own_folder_.empty() && !remove_tree(own_folder_)) throw SetupFailure("remove " + own_folder_);
    prepare_folder(program);
    prepare_landlock();
  }
  send_message(session_, {{"ready", true}}, {});
}

void Keeper::run(Message message) {
  over_.clear();
  const std::string failure = start(message);
  if (!failure.empty()) {
    end_descendants();
    child_ = -1;
    send_message(session_, {{"failure", failure}}, {});
    return;
  }
  const bool goes_on = wait();
  if (confined_by_namespaces()) ::kill(-1, SIGKILL);
  end_descendants();
  child_ = -1;
  if (goes_on) report_end();
}

void Keeper::serve() {
  while (std::optional<Message> message = receive_message(session_)) {
    if (message->body.contains("stop")) continue;  // too late: it has ended
    if (message->body.contains("text")) {
      take_text(*message);
    } else {
      run(std::move(*message));
    }
  }
}

}  // namespace

void end_descendants() {
  const pid_t me = ::getpid();
  for (;;) {
    pid_t id = 0;
    while ((id = ::waitpid(-1, nullptr, WNOHANG)) > 0) {
    }
    if (id < 0 && errno == ECHILD) return;
    if (DIR* folder = ::opendir("/proc")) {
      while (const dirent* entry = ::readdir(folder)) {
        if (entry->d_name[0] < '1' || entry->d_name[0] > '9') continue;
        if (facts_of(entry->d_name).parent == me) ::kill(static_cast<pid_t>(std::atol(entry->d_name)), SIGKILL);
      }
      ::closedir(folder);
    }
    ::usleep(500);
  }
}

void supervise(int session, const std::string& scratch) {
  {
    Keeper keeper(session, scratch);
    try {
      const std::optional<Message> message = receive_message(session);
      if (!message) ::_exit(0);
      keeper.open(*message);
      send_message(session, {{"ready", true}}, {});
      keeper.serve();
    } catch (const std::exception& error) {
      send_message(session, {{"failure", error.what()}}, {});
    }
  }
  ::_exit(0);
}

}  // namespace maxplus
