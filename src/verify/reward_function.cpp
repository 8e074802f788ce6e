// Adding up the parts of a reward, and making them from a deck.
#include "verify/reward_function.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/error.hpp"
#include "text/utf8.hpp"
#include "verify/sandbox/policy.hpp"

namespace maxplus {

RewardFunction::RewardFunction(std::vector<Part> parts,
                               std::map<std::string, std::shared_ptr<const Verifier>, std::less<>> named)
    : parts_(std::move(parts)), named_(std::move(named)) {
  MAXPLUS_REQUIRE(!parts_.empty(), "a reward without parts");
  const auto judge =
      std::find_if(parts_.begin(), parts_.end(), [](const Part& part) { return part.verifier->judges(); });
  judge_ = judge == parts_.end() ? 0 : static_cast<std::size_t>(judge - parts_.begin());
}

Assessment RewardFunction::assess_part(std::size_t i, const Problem& problem, const Rollout& rollout,
                                       std::string_view response) const {
  const Verifier* verifier = parts_[i].verifier.get();
  if (i == judge_ && !problem.verifier.empty()) {
    const auto own = named_.find(problem.verifier);
    if (own == named_.end())
      return judged(Verdict::crashed,
                    fmt::format("the problem names the unknown verifier {}", in_quotes(problem.verifier)));
    verifier = own->second.get();
  }
  try {
    Assessment assessment = verifier->assess(problem, rollout, response);
    if (!std::isfinite(assessment.reward)) return judged(Verdict::crashed, "the reward is not finite");
    return assessment;
  } catch (const std::exception& error) {
    return judged(Verdict::crashed, error.what());
  }
}

Assessment RewardFunction::assess(const Problem& problem, const Rollout& rollout, std::string_view response) const {
  Assessment whole;
  double sum = 0;
  bool any_crashed = false;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    Assessment part = assess_part(i, problem, rollout, response);
    any_crashed = any_crashed || part.verdict == Verdict::crashed;
    if (part.verdict == Verdict::crashed && i != judge_) whole.extracted = part.extracted;
    sum += parts_[i].weight * static_cast<double>(part.reward);
    whole.part.push_back(part.reward);
    if (i == judge_) {
      whole.verdict = part.verdict;
      whole.extracted = std::move(part.extracted);
    } else if (part.verdict == Verdict::gold_unusable && whole.verdict != Verdict::crashed && i > judge_) {
      whole.verdict = Verdict::gold_unusable;
    }
  }
  if (any_crashed) whole.verdict = Verdict::crashed;
  whole.reward = any_crashed ? 0.0F : static_cast<float>(sum);
  return whole;
}

bool RewardFunction::judges() const { return parts_[judge_].verifier->judges(); }

bool RewardFunction::needs_answer() const {
  return std::any_of(parts_.begin(), parts_.end(), [](const Part& part) { return part.verifier->needs_answer(); });
}

double RewardFunction::deadline_s(double timeout_s) const {
  double longest = timeout_s, sum = 0;
  for (const Part& part : parts_) {
    const double own = part.verifier->deadline_s(timeout_s);
    longest = std::max(longest, own);
    if (own > timeout_s) sum += own;  // a part with its own, longer deadline
  }
  for (const auto& [name, verifier] : named_) longest = std::max(longest, verifier->deadline_s(timeout_s));
  return std::max(longest, sum);
}

std::string RewardFunction::confinement() const {
  std::string weakest;
  for (const Part& part : parts_) weakest = weaker_tier(weakest, part.verifier->confinement());
  for (const auto& [name, verifier] : named_) weakest = weaker_tier(weakest, verifier->confinement());
  return weakest;
}

namespace {

void collect(std::vector<Fault>& faults, const Error& error) {
  faults.insert(faults.end(), error.faults().begin(), error.faults().end());
}

// Null if there are faults.
std::shared_ptr<const Verifier> try_make(std::string_view name, const nlohmann::json& keys,
                                         const VerifierSettings& settings, std::string_view table, const Locate& locate,
                                         std::vector<Fault>& faults) {
  try {
    return make_verifier(name, keys, settings, table, locate);
  } catch (const Error& error) {
    if (error.code() != ExitCode::config) throw;  // of this host, not of the deck: no sandbox
    collect(faults, error);
    return nullptr;
  }
}

std::vector<RewardFunction::Part> make_parts(const RewardTable& table, const RewardContext& context,
                                             const VerifierSettings& settings, std::vector<Fault>& faults) {
  std::vector<RewardFunction::Part> parts;
  const auto place = [&context](const std::string& key) {
    return context.locate ? context.locate(key) : std::string();
  };
  for (std::size_t i = 0; i < table.part.size(); ++i) {
    const RewardPart& part = table.part[i];
    const auto locate = [&place, i](std::string_view key) { return place(fmt::format("part.{}.{}", i, key)); };
    if (!std::isfinite(part.weight))
      faults.push_back({locate("weight"), "[[reward.part]] weight is not finite", "a finite number", "weight = 1.0"});
    parts.push_back(
        {part.verifier, part.weight, try_make(part.verifier, part.keys, settings, "[[reward.part]]", locate, faults)});
  }
  if (!table.part.empty()) return parts;
  const std::string& name = table.verifier.empty() ? context.default_verifier : table.verifier;
  if (name.empty()) {
    faults.push_back(
        {place(""), "[reward] names no verifier", "verifier = \"…\", or [[reward.part]]", "verifier = \"exact\""});
    return parts;
  }
  const auto locate = [&place](std::string_view key) { return place(std::string(key)); };
  parts.push_back({name, 1.0, try_make(name, table.keys, settings, "[reward]", locate, faults)});
  return parts;
}

}  // namespace

std::shared_ptr<const RewardFunction> make_reward_function(const RewardTable& table, const RewardContext& context) {
  std::vector<Fault> faults;
  const auto place = [&context](const std::string& key) {
    return context.locate ? context.locate(key) : std::string();
  };
  if (!table.part.empty() && (!table.verifier.empty() || !table.keys.empty())) {
    faults.push_back({place("verifier"), "[reward] has both a verifier (or its keys) and [[reward.part]]",
                      "one of the two", "put the verifier into a part"});
  }
  if (!(table.timeout_s > 0 && table.timeout_s <= 86400))
    faults.push_back({place("timeout_s"), fmt::format("[reward] timeout_s = {} does not do", table.timeout_s),
                      "above 0, at most 86400", "timeout_s = 10"});
  if (table.workers < 1 || table.workers > 1024)
    faults.push_back({place("workers"), fmt::format("[reward] workers = {} does not do", table.workers), "1 to 1024",
                      "workers = 2"});
  if (!faults.empty()) throw Error(ExitCode::config, std::move(faults));

  const VerifierSettings settings = {context.seed, table.timeout_s, table.workers, context.folder, context.broker};
  std::vector<RewardFunction::Part> parts = make_parts(table, context, settings, faults);
  std::map<std::string, std::shared_ptr<const Verifier>, std::less<>> named;
  for (const std::string& name : context.problem_verifiers) {
    if (name.empty() || named.contains(name)) continue;
    const auto same = std::find_if(parts.begin(), parts.end(), [&name](const auto& part) { return part.name == name; });
    named[name] = same != parts.end()
                      ? same->verifier
                      : try_make(name, nlohmann::json::object(), settings, "a problem's", Locate(), faults);
  }
  if (!faults.empty()) throw Error(ExitCode::config, std::move(faults));
  return std::make_shared<RewardFunction>(std::move(parts), std::move(named));
}

}  // namespace maxplus
