#pragma once
// Which policy a ratio is taken against, and how tokens that another policy drew are weighed.
//
// Three policies may differ: the one that drew a token (behaviour: the sampler's own record, mu), the one at the start
// of the iteration (proximal) and the one being trained (now). Ratios are taken against the anchor:
//   behaviour     anchor = mu, no weight
//   recompute     anchor = the proximal policy's log-probability, from one forward before the first update
//   interpolate   anchor = mu + a (lp - mu), a = (v_proximal - v_mu) / (v_now - v_mu) from the policy versions, no
//                 forward; v_now = v_proximal + 1 (Li et al., "A-3PO", 2025, arXiv 2512.06547)
// With the latter two a token's loss is multiplied by the constant w = exp(anchor - mu) (Hilton et al. 2021, arXiv
// 2110.00641; Fu et al., "AReaL", 2025, arXiv 2505.24298). Options on w:
//   cap               w = min(w, cap): truncated importance sampling (Yao et al. 2025)
//   mask = token      w = 0 outside [low, high] (IcePop, Ling team 2025); the token stays in the denominators
//   mask = sequence   w = 0 for a rollout whose geometric mean of w is outside [low, high]
//   mask = second_moment   M2PO: the anchor is mu, w is 1, or 0 where (proximal - mu)^2 is above what the step allows
// On policy all three agree in every bit, so that r and w are exactly 1.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace maxplus {

struct DoubleTerms;
struct StepStatistics;

enum class Proximal : std::uint8_t { behaviour, recompute, interpolate };
enum class ImportanceMask : std::uint8_t { none, token, sequence, second_moment };

const char* name_of(Proximal proximal);
const char* name_of(ImportanceMask mask);

struct ImportanceRule {
  Proximal proximal = Proximal::behaviour;
  std::optional<double> cap;
  ImportanceMask mask = ImportanceMask::none;
  double low = 0.5, high = 5;

  std::string describe() const;
};

// A response token each; what stands at tokens that are not trainable means nothing.
struct ImportanceTerms {
  std::vector<double> anchor;
  std::vector<double> weight;
  std::int64_t truncated = 0, masked = 0;  // trainable tokens whose weight was capped, or set to 0
};

ImportanceTerms importance_terms(const DoubleTerms& terms, const StepStatistics& statistics,
                                 const ImportanceRule& rule);

}  // namespace maxplus
