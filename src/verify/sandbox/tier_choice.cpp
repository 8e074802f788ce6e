#include "verify/sandbox/tier_choice.hpp"

#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"
#include "verify/sandbox/sandbox.hpp"
#include "verify/sandbox/self_test.hpp"

namespace maxplus {

namespace {

constexpr auto kSelfTestPatience = std::chrono::seconds(10);
constexpr std::size_t kMostOutput = 4096;

// A file that anyone may read, and that no sandbox may reach.
class Probe {
 public:
  Probe() : path_((std::filesystem::temp_directory_path() / "maxplus-probe-XXXXXX").string()) {
    const Descriptor file(::mkstemp(path_.data()));
    if (file) {
      (void)!::write(file.number(), "secret\n", 7);
      std::filesystem::permissions(path_, static_cast<std::filesystem::perms>(0666));
    }
  }
  ~Probe() {
    std::error_code error;
    std::filesystem::remove(path_, error);
    std::filesystem::remove(path_ + "2", error);
  }
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace

std::string refusal_of(const Broker& broker, const SandboxPolicy& policy) {
  try {
    const Probe probe;
    Sandbox sandbox(broker, policy, "");
    SandboxedProgram test(sandbox, {}, probe.path(), kMostOutput);
    if (test.wait(SandboxedProgram::Clock::now() + kSelfTestPatience) != SandboxedProgram::Event::ended)
      return "its self-test did not end";
    const std::string last = fmt::format("tried {}\n", kSelfTests);
    std::string allowed = test.output();
    if (!allowed.ends_with(last)) return "its self-test failed";
    allowed.resize(allowed.size() - last.size());
    if (allowed.empty()) return "";
    for (char& c : allowed) c = c == '\n' ? ',' : c;
    allowed.pop_back();
    return "it does not refuse " + allowed;
  } catch (const std::exception& error) {
    return error.what();
  }
}

void choose_tier(const Broker& broker, const std::string& wanted, SandboxPolicy* policy) {
  struct Way {
    Tier tier;
    bool own_users;
  };
  const std::vector<Way> ways = {{Tier::namespaces, true}, {Tier::namespaces, false}, {Tier::landlock, false}};
  if (wanted == name_of(Tier::none)) {
    policy->tier = Tier::none;
    return;
  }
  std::vector<std::string> reasons;
  for (const Way& way : ways) {
    if (wanted != kAutoTier && wanted != name_of(way.tier)) continue;
    if (way.tier == Tier::namespaces && !way.own_users && ::geteuid() != 0) continue;
    SandboxPolicy tried = *policy;
    tried.tier = way.tier;
    tried.own_users = way.own_users;
    std::string reason = "it cannot count processes";
    if (way.tier != Tier::landlock || policy->processes == 1) reason = refusal_of(broker, tried);
    if (reason.empty()) {
      *policy = tried;
      return;
    }
    reasons.push_back(fmt::format("{}: {}", name_of(way.tier), reason));
  }
  throw Error(ExitCode::unavailable, Fault{"", fmt::format("no sandbox on this host ({})", fmt::join(reasons, "; ")),
                                           "user namespaces, or Landlock (Linux 5.13 and later)",
                                           "another host; sandbox = \"none\" runs programs unconfined"});
}

}  // namespace maxplus
