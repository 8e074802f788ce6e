#include "comm/pending.hpp"

#include "comm/checked_count.hpp"

namespace maxplus {

bool Pending::is_done() {
  if (requests_.empty()) return true;
  int done = 0;
  check_mpi(MPI_Testall(checked_count(requests_.size()), requests_.data(), &done, MPI_STATUSES_IGNORE), "MPI_Testall",
            communicator_.c_str());
  if (done != 0) requests_.clear();
  return done != 0;
}

void Pending::wait() {
  if (requests_.empty()) return;
  check_mpi(MPI_Waitall(checked_count(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE), "MPI_Waitall",
            communicator_.c_str());
  requests_.clear();
}

}  // namespace maxplus
