#pragma once
// A group of ranks: a named RAII value over an MPI communicator. A group of one is a correct no-op.
//
// Every call and byte is counted (traffic()). Transfers go in pieces below 1 GiB. MPI errors become Error with the
// communicator's name and the call. In check mode (all tests) every collective first compares its signature (call,
// bytes, type) with the other ranks' on a shadow communicator, so a mismatch is an error that names the calls, not a
// hang.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <mpi.h>

#include "comm/pending.hpp"

namespace maxplus {

// What this rank has sent, counted as if every receiver got it straight from the one that had it: a broadcast costs its
// root bytes * (ranks - 1), a gather of all costs a rank its own bytes * (ranks - 1), a sum is a gather to rank 0 and a
// broadcast. A group of one sends nothing. Calls of the check mode are not counted.
struct Traffic {
  std::int64_t calls = 0;
  std::int64_t bytes_sent = 0;
  double seconds = 0;
};

class Communicator {
 public:
  enum class Checking { off, on };

  // A group of this process alone; works without MPI.
  static Communicator self(std::string name);
  // Duplicates `parent` (collective).
  Communicator(std::string name, MPI_Comm parent, Checking checking);
  ~Communicator();
  Communicator(Communicator&&) noexcept;
  Communicator& operator=(Communicator&&) noexcept;

  int rank() const;
  int size() const;
  const std::string& name() const;
  MPI_Comm handle() const;  // for HDF5; MPI_COMM_SELF for a group of one made by self()
  const Traffic& traffic() const;

  // Transfers are cut into pieces of at most this many bytes (below 1 GiB; tests lower it). Equal on all ranks; a part
  // made by split() takes it over.
  void limit_pieces(std::size_t bytes);

  // The collective that was begun last ("none" before the first), and the last 32 as text, one a line, with "running"
  // behind one that has not returned. Both may be called by another thread (a watchdog).
  const char* last_call() const;
  std::string recent_calls() const;

  // A part of this group: ranks of equal colour, ordered by rank (collective).
  Communicator split(std::string name, int colour) const;

  void barrier() const;
  void broadcast(void* data, std::size_t bytes, int root) const;
  // The same while ranks go on: nobody waits for who begins later, and `data` is MPI's until it is done on this rank.
  // Ranks begin such calls and other collectives of this group in one order; the check mode compares nothing here.
  Pending begin_broadcast(void* data, std::size_t bytes, int root) const;
  void sum(std::span<double> values)
      const;  // in rank order on rank 0, then broadcast: bits do not depend on MPI's algorithm
  void sum(std::span<std::int64_t> values) const;
  // A value that is not a number wins, so that all ranks learn of it.
  void maximum(std::span<double> values) const;
  void minimum(std::span<double> values) const;
  std::int64_t maximum(std::int64_t value) const;
  std::int64_t minimum(std::int64_t value) const;
  std::int64_t sum(std::int64_t value) const;
  bool any(bool value) const;
  bool all(bool value) const;
  // The bytes of every rank, in rank order.
  std::vector<std::vector<std::byte>> gather_all(std::span<const std::byte> mine) const;
  // piece[r] goes to rank r; returns what each rank sent here.
  void exchange(const void* send, std::span<const std::size_t> send_bytes, void* receive,
                std::span<const std::size_t> receive_bytes) const;  // contiguous in rank order
  void gather_all_in_place(void* data, std::span<const std::size_t> bytes_of_rank) const;
  // Throws Error(ExitCode::protocol), on all ranks, unless every rank gave the same text; names what differs.
  void require_equal(const std::string& what, const std::string& text) const;

 private:
  struct Impl;
  explicit Communicator(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace maxplus
