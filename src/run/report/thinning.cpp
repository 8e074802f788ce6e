#include "run/report/thinning.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace maxplus {

std::vector<Bin> bins_of(const std::vector<double>& x, int columns) {
  std::vector<Bin> bins;
  const bool few = x.size() <= 2 * static_cast<std::size_t>(columns);
  const double width = x.empty() ? 0 : (x.back() - x.front()) / columns;
  double before = -1;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double column = width > 0 ? std::min(std::floor((x[i] - x.front()) / width), columns - 1.0) : 0.0;
    if (few || column != before) bins.push_back({i, i});
    bins.back().last = i + 1;
    before = column;
  }
  return bins;
}

std::vector<std::size_t> line_points(const std::vector<double>& x, const std::vector<double>& y, int columns) {
  std::vector<std::size_t> kept;
  for (const Bin& bin : bins_of(x, columns)) {
    std::vector<std::size_t> finite;
    for (std::size_t i = bin.first; i < bin.last; ++i) {
      if (std::isfinite(y[i])) finite.push_back(i);
    }
    if (finite.empty()) continue;
    const auto less = [&y](std::size_t a, std::size_t b) { return y[a] < y[b]; };
    const std::set<std::size_t> told = {finite.front(), *std::min_element(finite.begin(), finite.end(), less),
                                        *std::max_element(finite.begin(), finite.end(), less), finite.back()};
    kept.insert(kept.end(), told.begin(), told.end());
  }
  return kept;
}

}  // namespace maxplus
