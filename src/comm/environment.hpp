#pragma once
// MPI_Init and MPI_Finalize as a value, and what the launcher tells about this process.

#include <string>

#include "comm/communicator.hpp"

namespace maxplus {

class MpiEnvironment {
 public:
  MpiEnvironment(int* argc, char*** argv);  // asks for MPI_THREAD_FUNNELED
  ~MpiEnvironment();                        // finalizes, unless abandoned
  MpiEnvironment(const MpiEnvironment&) = delete;
  MpiEnvironment& operator=(const MpiEnvironment&) = delete;

  Communicator world(Communicator::Checking checking) const;
  int ranks_on_node() const { return ranks_on_node_; }
  int rank_on_node() const { return rank_on_node_; }
  static std::string library_version();
  static std::string host_name();
  // Ends all ranks with this code at once (an error that the others cannot know of).
  [[noreturn]] static void abort(int code);

 private:
  int ranks_on_node_ = 1;
  int rank_on_node_ = 0;
};

}  // namespace maxplus
