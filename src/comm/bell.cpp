#include "comm/bell.hpp"

#include <utility>

#include "comm/checked_count.hpp"

namespace maxplus {

Bell::Bell(std::string name, const Communicator& ranks)
    : ranks_(std::move(name), ranks.handle(), Communicator::Checking::off) {}

void Bell::pull() {
  if (std::exchange(pulled_, true)) return;
  check_mpi(MPI_Ibarrier(ranks_.handle(), &request_), "MPI_Ibarrier", ranks_.name().c_str());
}

bool Bell::has_rung() {
  if (!pulled_ || rung_) return rung_;
  int done = 0;
  check_mpi(MPI_Test(&request_, &done, MPI_STATUS_IGNORE), "MPI_Test", ranks_.name().c_str());
  rung_ = done != 0;
  return rung_;
}

void Bell::settle() {
  pull();
  if (!rung_) check_mpi(MPI_Wait(&request_, MPI_STATUS_IGNORE), "MPI_Wait", ranks_.name().c_str());
  pulled_ = rung_ = false;
}

}  // namespace maxplus
