#pragma once
// The sum of gradients over the slices of a step, in one order on any number of ranks.
//
// Slices 0 .. S - 1 (S a power of two) are the leaves of a binary tree; a node is left + right. A rank holds a
// contiguous range of slices. Inside a rank a binary counter of buffers adds complete subtrees as slices finish; across
// ranks every rank owns a part of the elements, receives that part of all subtrees the others hold, finishes the tree
// there and all parts are gathered again. So 1, 2, 3, ... up to S ranks give the same bits.
//
// Bytes sent by a rank of R with k subtrees: 4 * elements * (k * (R - 1) / R + (R - 1) / R), up to rounding of the cut.

#include <cstdint>
#include <vector>

#include "comm/communicator.hpp"
#include "device/stream.hpp"
#include "tensor/arena.hpp"
#include "tensor/tensor_view.hpp"

namespace maxplus {

// The slices of a rank: [first, last). Contiguous, in rank order, as even as S and R allow, the larger parts first.
struct SliceRange {
  int first, last;
};
SliceRange slices_of_rank(int slices, int rank, int ranks);

// The complete subtrees (first slice, number of slices: a power of two) that a range of slices leaves, left to right.
struct Subtree {
  int first, slices;
};
std::vector<Subtree> subtrees_of_range(SliceRange range);

class GradientSum {
 public:
  // Takes its buffers from `arena` (counting or real): as many of `elements` f32 as this rank's counter can fill at
  // once.
  GradientSum(Arena& arena, std::int64_t elements, int slices, int rank, int ranks);

  // The buffer into which the next slice of this rank adds its gradient; zeroed.
  TensorView begin_slice(const Stream& stream);
  // The slice is complete: merges equal subtrees.
  void end_slice(const Stream& stream);
  // After all slices of this rank (collective): the total in `total` [elements] on every rank. Resets the counter.
  // `total` may be first_buffer(), which costs no further memory; begin_slice then overwrites it.
  void finish(const Stream& stream, const Communicator& data_ranks, TensorView total);

  SliceRange range() const { return range_; }
  TensorView first_buffer() const { return buffer_.front(); }

 private:
  void sum_own_part(const Stream& stream, const Communicator& data_ranks, TensorView total);

  std::int64_t elements_;
  int slices_;
  SliceRange range_;
  std::vector<TensorView> buffer_;  // of depth i
  std::vector<Subtree> held_;       // subtrees in buffer_[0 .. held_.size())
  int next_slice_;
  TensorView exchange_;  // what a round sends, then what it receives: at most 4 MiB each
};

}  // namespace maxplus
