#include "verify/sandbox/landlock.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>

#include "verify/sandbox/descriptor.hpp"

namespace maxplus {

namespace {

// The kernel's interface, written out: headers may be older than the kernel. Numbers are the same on all processors.
constexpr long kCreateRuleset = 444, kAddRule = 445, kRestrictSelf = 446;
constexpr std::uint32_t kAskVersion = 1;
constexpr int kRuleOfPath = 1;
constexpr std::uint64_t kExecute = 1 << 0, kWriteFile = 1 << 1, kReadFile = 1 << 2, kReadFolder = 1 << 3;
constexpr std::uint64_t kFirstVersion = (1 << 13) - 1;
constexpr std::uint64_t kRefer = 1 << 13, kTruncate = 1 << 14, kDeviceControl = 1 << 15;
constexpr std::uint64_t kOfFiles = kExecute | kWriteFile | kReadFile | kTruncate | kDeviceControl;

struct RulesetAttribute {
  std::uint64_t handled_access_fs;
};

struct [[gnu::packed]] PathAttribute {
  std::uint64_t allowed_access;
  std::int32_t parent_fd;
};

std::uint64_t handled_accesses() {
  const long version = ::syscall(kCreateRuleset, nullptr, 0, kAskVersion);
  if (version < 1) return 0;
  std::uint64_t accesses = kFirstVersion;
  if (version >= 2) accesses |= kRefer;
  if (version >= 3) accesses |= kTruncate;
  if (version >= 5) accesses |= kDeviceControl;
  return accesses;
}

void allow(int ruleset, const std::string& path, std::uint64_t accesses) {
  const Descriptor place(::open(path.c_str(), O_PATH | O_CLOEXEC));
  struct stat status {};
  if (!place || ::fstat(place.number(), &status) != 0) return;
  if (!S_ISDIR(status.st_mode)) accesses &= kOfFiles;
  const PathAttribute attribute = {accesses, place.number()};
  (void)!::syscall(kAddRule, ruleset, kRuleOfPath, &attribute, 0);  // a rule that is missing only forbids
}

}  // namespace

int make_landlock_ruleset(const LandlockRules& rules) {
  const std::uint64_t handled = handled_accesses();
  if (handled == 0) return -1;
  const RulesetAttribute attribute = {handled};
  const auto ruleset = static_cast<int>(::syscall(kCreateRuleset, &attribute, sizeof attribute, 0));
  if (ruleset < 0) return -1;
  for (const std::string& path : rules.readable) allow(ruleset, path, kExecute | kReadFile | kReadFolder);
  for (const std::string& path : rules.writable) allow(ruleset, path, (kReadFile | kWriteFile | kTruncate) & handled);
  if (!rules.scratch.empty()) allow(ruleset, rules.scratch, handled & ~kDeviceControl);
  return ruleset;
}

bool enforce_landlock(int ruleset) { return ::syscall(kRestrictSelf, ruleset, 0) == 0; }

}  // namespace maxplus
