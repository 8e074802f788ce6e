#pragma once
// Which iterations are drawn when: the software pipeline of a schedule with exact staleness.
//
// A step trains on one iteration. Generation runs max_staleness iterations ahead, so that what is drawn beside the
// training of iteration k is iteration k + max_staleness, with the weights as they stand before that training: version
// k - 1. Every rank computes the same steps from the same counts, whatever its roles and however long things take.

#include <cstdint>
#include <optional>
#include <vector>

namespace maxplus {

class Pipeline {
 public:
  explicit Pipeline(std::int64_t max_staleness) : max_staleness_(max_staleness) {}
  std::int64_t max_staleness() const { return max_staleness_; }

  struct Step {
    std::vector<std::int64_t> before;    // iterations to draw before the training begins
    std::optional<std::int64_t> beside;  // the one to draw at the same time
  };
  // Of iteration `iteration` of `last`, where those up to `drawn` have been drawn. What is missing of the iterations
  // ahead (at the start of a run, and where a finished run is made longer) is drawn before.
  Step step(std::int64_t iteration, std::int64_t drawn, std::int64_t last) const;

  // The version that iteration `iteration` is drawn with in a run that was never made longer.
  std::int64_t version(std::int64_t iteration) const;

 private:
  std::int64_t max_staleness_;
};

}  // namespace maxplus
