#include "verify/sandbox/policy.hpp"

namespace maxplus {

namespace {

constexpr std::int64_t kThreads = 64;
constexpr Tier kTiers[] = {Tier::namespaces, Tier::landlock, Tier::none};

}  // namespace

std::string_view name_of(Tier tier) {
  switch (tier) {
    case Tier::namespaces: return "namespaces";
    case Tier::landlock: return "landlock";
    case Tier::none: return "none";
  }
  return "";
}

std::optional<Tier> tier_of(std::string_view name) {
  for (const Tier tier : kTiers) {
    if (name_of(tier) == name) return tier;
  }
  return std::nullopt;
}

std::string weaker_tier(const std::string& a, const std::string& b) {
  const std::optional<Tier> of_a = tier_of(a), of_b = tier_of(b);
  return !of_b || (of_a && *of_a >= *of_b) ? a : b;
}

nlohmann::json as_json(const SandboxPolicy& p) {
  return {{"tier", name_of(p.tier)},  {"own_users", p.own_users},     {"memory_mb", p.memory_mb},
          {"processes", p.processes}, {"files_mb", p.files_mb},       {"cpu_s", p.cpu_s},
          {"read_only", p.read_only}, {"environment", p.environment}, {"folder", p.folder}};
}

SandboxPolicy policy_of(const nlohmann::json& json) {
  SandboxPolicy p;
  p.tier = tier_of(json.at("tier").get<std::string>()).value_or(Tier::namespaces);
  json.at("own_users").get_to(p.own_users);
  json.at("memory_mb").get_to(p.memory_mb);
  json.at("processes").get_to(p.processes);
  json.at("files_mb").get_to(p.files_mb);
  json.at("cpu_s").get_to(p.cpu_s);
  json.at("read_only").get_to(p.read_only);
  json.at("environment").get_to(p.environment);
  json.at("folder").get_to(p.folder);
  return p;
}

std::int64_t task_limit(const SandboxPolicy& policy) { return kThreads + policy.processes - 1; }

}  // namespace maxplus
