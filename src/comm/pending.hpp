#pragma once
// Transfers that have begun. MPI moves them on while it is asked, so one asks now and then.

#include <string>
#include <utility>
#include <vector>

#include <mpi.h>

namespace maxplus {

class Pending {
 public:
  Pending() = default;
  explicit Pending(std::string communicator) : communicator_(std::move(communicator)) {}
  Pending(Pending&&) noexcept = default;
  Pending& operator=(Pending&&) noexcept = default;
  // One that is not done is left to MPI: after an exception others may never come.
  ~Pending() = default;

  void add(MPI_Request request) { requests_.push_back(request); }
  // Whether all are done, on this rank; true where nothing has begun. Errors become Error, as of Communicator.
  bool is_done();
  void wait();

 private:
  std::string communicator_;
  std::vector<MPI_Request> requests_;
};

}  // namespace maxplus
