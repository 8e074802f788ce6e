#pragma once
// The little that files need of a group of ranks: sizes, one agreement, bytes from one to all. Without MPI_Init (or on
// MPI_COMM_SELF) it is a group of one.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include <mpi.h>

namespace maxplus {

class RankGroup {
 public:
  explicit RankGroup(MPI_Comm ranks);

  int rank() const { return rank_; }
  int size() const { return size_; }
  // For HDF5: MPI_COMM_NULL (open in this process) for a group of one.
  MPI_Comm handle() const { return size_ > 1 ? ranks_ : MPI_COMM_NULL; }

  // Runs `action` here and returns, or throws, on all ranks alike: the Error of the lowest rank that failed.
  void agree(const std::function<void()>& action) const;
  // The same, but only rank 0 has something to do.
  void agree_on_root(const std::function<void()>& action) const;

  void broadcast(void* data, std::size_t bytes, int root) const;
  std::string broadcast(std::string text) const;                      // of rank 0
  void combine_bits(std::uint64_t* values, std::size_t count) const;  // bitwise or
  std::int64_t sum(std::int64_t value) const;

  // The share of `items` of a rank: contiguous, in rank order.
  struct Range {
    std::int64_t first, last;
  };
  Range part(std::int64_t items, int rank) const { return part_of(items, rank, size_); }
  static Range part_of(std::int64_t items, int rank, int ranks) {
    return {items * rank / ranks, items * (rank + 1) / ranks};
  }

 private:
  MPI_Comm ranks_;
  int rank_ = 0;
  int size_ = 1;
};

}  // namespace maxplus
