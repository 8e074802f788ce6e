#pragma once
// What a sandboxed program may use, and the tiers of confinement.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace maxplus {

// Strongest first. `namespaces`: a file tree of its own with read-only system folders and a sized scratch in memory,
// its own processes, network and IPC, and the filter of system calls. `landlock`: no namespaces; file access by
// Landlock, no second process, a stricter filter. `none`: limits only, for programs that are trusted.
enum class Tier { namespaces, landlock, none };
std::string_view name_of(Tier tier);
std::optional<Tier> tier_of(std::string_view name);
// Of two names, either of which may be empty: no programs are started there.
std::string weaker_tier(const std::string& a, const std::string& b);

struct SandboxPolicy {
  Tier tier = Tier::namespaces;
  bool own_users = true;                 // tier namespaces: a user namespace too; false needs root
  std::int64_t memory_mb = 1024;         // address space of a process; 0: no limits at all (tier none)
  std::int64_t processes = 1;            // 1: none beside the program itself
  std::int64_t files_mb = 16;            // scratch folder in all, and a file in it
  std::int64_t cpu_s = 10;               // of a process
  std::vector<std::string> read_only;    // folders a program may read besides the system's
  std::vector<std::string> environment;  // "NAME=value"
  std::string folder;                    // where the program starts, tier none only; empty: its scratch
};

nlohmann::json as_json(const SandboxPolicy& policy);
SandboxPolicy policy_of(const nlohmann::json& json);  // throws nlohmann::json::exception

// Threads and processes together, where the system can count them for us alone.
std::int64_t task_limit(const SandboxPolicy& policy);

// Where a program finds itself.
inline constexpr const char* kProgramPath = "/program";  // the judged text: a read-only file in the root of the tree
inline constexpr const char* kProgramName = kProgramPath + 1;
inline constexpr const char* kProgramPlace = "{program}";  // in arguments
inline constexpr const char* kScratchPlace = "{work}";     // in the environment
inline constexpr const char* kSystemFolders[] = {"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"};
inline constexpr const char* kSystemFiles[] = {"/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime"};
inline constexpr const char* kDevices[] = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"};

}  // namespace maxplus
