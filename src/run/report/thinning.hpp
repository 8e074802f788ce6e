#pragma once
// Long curves with as many points as a drawing can show, such that the drawing stays the same.

#include <cstddef>
#include <vector>

namespace maxplus {

// Neighbours [first, last) that a column of pixels covers; none is empty, and together they are all points. Each point
// by itself where there are at most twice as many as columns.
struct Bin {
  std::size_t first, last;
};
std::vector<Bin> bins_of(const std::vector<double>& x, int columns);

// Indices of what to draw of a line of n points in so many columns of pixels: of each column the first, the least, the
// largest and the last. Values that are not finite are left out.
std::vector<std::size_t> line_points(const std::vector<double>& x, const std::vector<double>& y, int columns);

}  // namespace maxplus
