#pragma once
// Judges of responses. A verifier is immutable and may be used by several threads at once; it sees the response only,
// never takes an empty answer for right, and says `gold_unusable` where the problem itself cannot be judged.
//
// A new verifier is one source file here and its line in the registry (registry.cpp).

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "rl/sample.hpp"
#include "text/key_reader.hpp"

namespace maxplus {

class Broker;

class Verifier {
 public:
  virtual ~Verifier() = default;
  // `response` is the text of the rollout's tokens without the stop token.
  virtual Assessment assess(const Problem& problem, const Rollout& rollout, std::string_view response) const = 0;
  // Whether its verdict says that an answer is right; format, length and random only shape the reward.
  virtual bool judges() const { return true; }
  virtual bool needs_answer() const { return judges(); }
  // Longest time an item may take before the pool gives it up.
  virtual double deadline_s(double timeout_s) const { return timeout_s; }
  // How the judged programs that it starts are confined (a tier's name); empty: it starts none.
  virtual std::string confinement() const { return ""; }
};

// What a verifier may need besides its keys.
struct VerifierSettings {
  std::uint64_t seed = 1;
  double timeout_s = 10;
  std::int64_t workers = 2;
  std::string folder;  // of the deck: programs are started there; empty: the working directory
  std::shared_ptr<const Broker> broker = nullptr;  // who starts programs; null: only keys are read
};

struct VerifierEntry {
  std::string_view name;
  std::string_view grammar;  // published by `score --verifier NAME --help`
  // Returns null if the reader has collected faults.
  std::shared_ptr<const Verifier> (*make)(KeyReader& keys, const VerifierSettings& settings);
};

const std::vector<VerifierEntry>& verifiers();

// All faults at once as Error(ExitCode::config). `table`, as a user knows it, for messages.
std::shared_ptr<const Verifier> make_verifier(std::string_view name, const nlohmann::json& keys,
                                              const VerifierSettings& settings, std::string_view table,
                                              const Locate& locate);
// Grammar and keys, as text for a terminal; throws Error(ExitCode::usage) for an unknown name.
std::string describe_verifier(std::string_view name);

// Reward 1 for correct, 0 for anything else.
Assessment judged(Verdict verdict, std::string extracted);

}  // namespace maxplus
