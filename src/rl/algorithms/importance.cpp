#include "rl/algorithms/importance.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"
#include "rl/algorithms/policy_loss.hpp"
#include "rl/algorithms/ratio.hpp"

namespace maxplus {

namespace {

constexpr const char* kProximalNames[] = {"behaviour", "recompute", "interpolate"};
constexpr const char* kMaskNames[] = {"none", "token", "sequence", "second_moment"};

// a of the interpolation: 0 for a token that the proximal policy drew itself.
double share_of_way(std::int64_t version, std::int64_t proximal_version) {
  const double behind = static_cast<double>(std::max<std::int64_t>(proximal_version - version, 0));
  return behind / (behind + 1);
}

std::vector<double> anchors(const DoubleTerms& terms, const ImportanceRule& rule) {
  const std::span<const double> drawn = terms.old_log_prob;
  if (rule.proximal == Proximal::behaviour || rule.mask == ImportanceMask::second_moment)
    return {drawn.begin(), drawn.end()};
  if (rule.proximal == Proximal::recompute) return {terms.proximal_log_prob.begin(), terms.proximal_log_prob.end()};
  std::vector<double> anchor(drawn.begin(), drawn.end());
  for (std::size_t t = 0; t < anchor.size(); ++t) {
    if (terms.trainable[t] == 0) continue;
    const double a = share_of_way(terms.version[t], terms.policy_version);
    if (a > 0) anchor[t] += a * (terms.log_prob[t] - drawn[t]);
  }
  return anchor;
}

// 1 or 0 for a whole rollout, by the geometric mean of its weights.
bool sequence_is_inside(const DoubleTerms& terms, const std::vector<double>& anchor, const ImportanceRule& rule) {
  double sum = 0, tokens = 0;
  for (std::size_t t = 0; t < anchor.size(); ++t) {
    if (terms.trainable[t] == 0) continue;
    sum += anchor[t] - terms.old_log_prob[t];
    tokens += 1;
  }
  const double mean = ratio_of(tokens > 0 ? sum / tokens : 0).value;
  return mean >= rule.low && mean <= rule.high;
}

}  // namespace

const char* name_of(Proximal proximal) { return kProximalNames[static_cast<int>(proximal)]; }
const char* name_of(ImportanceMask mask) { return kMaskNames[static_cast<int>(mask)]; }

std::string ImportanceRule::describe() const {
  if (mask == ImportanceMask::second_moment) {
    return "ratios against the sampler's record; tokens whose squared log-ratio, policy at the start of the iteration "
           "to sampler, is largest are left out until the step's mean of the rest is within m2_threshold";
  }
  if (proximal == Proximal::behaviour) return "ratios against the sampler's record, no importance weight";
  std::string text = fmt::format(
      "ratios against the policy at the start of the iteration ({}); loss times w = that / "
      "the sampler's record",
      name_of(proximal));
  if (cap) text += fmt::format(", w at most {}", *cap);
  if (mask == ImportanceMask::token) text += fmt::format(", 0 outside [{}, {}]", low, high);
  if (mask == ImportanceMask::sequence)
    text += fmt::format(", 0 for rollouts whose geometric mean of w is outside [{}, {}]", low, high);
  return text;
}

ImportanceTerms importance_terms(const DoubleTerms& terms, const StepStatistics& statistics,
                                 const ImportanceRule& rule) {
  const std::size_t tokens = terms.trainable.size();
  MAXPLUS_REQUIRE(rule.proximal != Proximal::recompute || terms.proximal_log_prob.size() == tokens,
                  "the proximal policy's log-probabilities are missing");
  MAXPLUS_REQUIRE(rule.proximal != Proximal::interpolate || terms.version.size() == tokens,
                  "interpolation needs the policy version of each token");
  ImportanceTerms result{anchors(terms, rule), std::vector<double>(tokens, 1.0), 0, 0};
  if (rule.proximal == Proximal::behaviour) return result;
  const bool keep = rule.mask != ImportanceMask::sequence || sequence_is_inside(terms, result.anchor, rule);
  for (std::size_t t = 0; t < tokens; ++t) {
    if (terms.trainable[t] == 0) continue;
    double& weight = result.weight[t];
    bool masked = !keep;
    if (rule.mask == ImportanceMask::second_moment) {
      const double difference = terms.proximal_log_prob[t] - terms.old_log_prob[t];
      masked = difference * difference > statistics.largest_square;
    } else {
      weight = ratio_of(result.anchor[t] - terms.old_log_prob[t]).value;
      masked = masked || (rule.mask == ImportanceMask::token && (weight < rule.low || weight > rule.high));
    }
    if (masked) {
      weight = 0;
      ++result.masked;
    } else if (rule.cap && weight > *rule.cap) {
      weight = *rule.cap;
      ++result.truncated;
    }
  }
  return result;
}

}  // namespace maxplus
