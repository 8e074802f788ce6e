#include "run/pipeline.hpp"

#include <algorithm>

namespace maxplus {

Pipeline::Step Pipeline::step(std::int64_t iteration, std::int64_t drawn, std::int64_t last) const {
  Step step;
  const std::int64_t ahead = std::max<std::int64_t>(0, max_staleness_ - 1);
  const std::int64_t until = std::min(last, iteration + ahead);
  for (std::int64_t next = std::max(drawn + 1, iteration); next <= until; ++next) step.before.push_back(next);
  const std::int64_t beside = iteration + max_staleness_;
  if (max_staleness_ > 0 && beside <= last && beside > drawn) step.beside = beside;
  return step;
}

std::int64_t Pipeline::version(std::int64_t iteration) const {
  return std::max<std::int64_t>(0, iteration - 1 - max_staleness_);
}

}  // namespace maxplus
