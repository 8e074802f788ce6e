// Starting, feeding and ending a child by the broker.
#include "verify/child_process.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>

#include <fmt/format.h>

#include "base/error.hpp"
#include "verify/sandbox/sandbox.hpp"

namespace maxplus {

namespace {

[[noreturn]] void fail_os(const std::string& what) {
  throw Error(ExitCode::os, Fault{"", fmt::format("a program of the verifier cannot be started: {}", what), "",
                                  "check the limits on processes and open files (ulimit -u, -n)"});
}

struct Pipe {
  Descriptor reading, writing;
};

Pipe make_pipe() {
  int end[2];
  if (::pipe2(end, O_CLOEXEC) != 0) fail_os(std::string("pipe: ") + std::strerror(errno));
  return {Descriptor(end[0]), Descriptor(end[1])};
}

bool may_execute(const std::filesystem::path& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && ::access(path.c_str(), X_OK) == 0;
}

}  // namespace

ChildProcess::ChildProcess(const ChildProgram& program, const Broker& broker) {
  SandboxPolicy policy;
  policy.tier = Tier::none;
  policy.memory_mb = 0;
  policy.environment = program.environment;
  policy.folder = program.folder.empty() ? std::filesystem::current_path().string()
                                         : std::filesystem::absolute(program.folder).string();
  Pipe to_child = make_pipe(), from_child = make_pipe();
  const Descriptor nothing(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  const std::array<int, 3> descriptors = {to_child.reading.number(), from_child.writing.number(),
                                          program.errors == ChildErrors::inherit ? 2 : nothing.number()};
  try {
    sandbox_ = std::make_unique<Sandbox>(broker, policy, "");
    sandbox_->start({{"argument", program.argument}}, descriptors);
  } catch (const SandboxFailure& failure) {
    fail_os(failure.what());
  }
  input_ = std::move(to_child.writing);
  output_ = std::move(from_child.reading);
  for (const int end : {input(), output()}) ::fcntl(end, F_SETFL, ::fcntl(end, F_GETFL) | O_NONBLOCK);
}

ChildProcess::~ChildProcess() { stop(); }

void ChildProcess::close_input() { input_.close(); }

bool ChildProcess::has_ended() {
  if (sandbox_ == nullptr) return true;
  if (!sandbox_->has_ended()) return false;
  stop();
  return true;
}

void ChildProcess::stop() {
  close_input();
  if (sandbox_ == nullptr) return;
  try {
    sandbox_->ask_to_stop();
    sandbox_->read_end();
  } catch (const SandboxFailure&) {  // its keeper has died, and with it the child
  }
  sandbox_.reset();
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
