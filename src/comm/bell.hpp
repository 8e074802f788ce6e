#pragma once
// A bell that has rung when every rank of a group has pulled it, so that ranks may work on until all have what they
// need: asking costs a test of a nonblocking barrier, and nobody waits for who asks.

#include <string>

#include <mpi.h>

#include "comm/communicator.hpp"

namespace maxplus {

class Bell {
 public:
  // Collective: has a communicator of its own.
  Bell(std::string name, const Communicator& ranks);
  // After an exception others may never pull: the bell is left as it is.
  ~Bell() = default;
  Bell(const Bell&) = delete;
  Bell& operator=(const Bell&) = delete;

  // This rank has what it needs. Once in a round; later pulls of the same round do nothing.
  void pull();
  // Whether all have pulled, seen from here; false for a rank that has not.
  bool has_rung();
  // Pulls and waits until it has rung; the next round begins.
  void settle();

 private:
  Communicator ranks_;
  MPI_Request request_ = MPI_REQUEST_NULL;
  bool pulled_ = false, rung_ = false;
};

}  // namespace maxplus
