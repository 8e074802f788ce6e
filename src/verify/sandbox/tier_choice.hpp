#pragma once
// Which tier of confinement this host gives, found by trying.

#include <string>

#include "verify/sandbox/broker.hpp"
#include "verify/sandbox/policy.hpp"

namespace maxplus {

inline constexpr const char* kAutoTier = "auto";  // the strongest there is; never `none`

// Sets the policy's tier (and how it is made) to `wanted`, a tier's name or "auto". Throws Error(ExitCode::unavailable)
// with what every tier lacked.
void choose_tier(const Broker& broker, const std::string& wanted, SandboxPolicy* policy);

// Why a sandbox by this policy is not granted; empty if it is.
std::string refusal_of(const Broker& broker, const SandboxPolicy& policy);

}  // namespace maxplus
