#include "comm/environment.hpp"

#include <array>
#include <cstdlib>
#include <exception>

#include <unistd.h>

#include <fmt/format.h>

#include "base/error.hpp"
#include "comm/checked_count.hpp"

namespace maxplus {

MpiEnvironment::MpiEnvironment(int* argc, char*** argv) {
  int provided = MPI_THREAD_SINGLE;
  check_mpi(MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread", "world");
  if (provided < MPI_THREAD_FUNNELED) {
    throw Error(ExitCode::unavailable, Fault{"", fmt::format("the MPI library offers thread level {}", provided),
                                             "MPI_THREAD_FUNNELED", "load an MPI library that was built with threads"});
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm node = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node), "MPI_Comm_split_type",
            "world");
  MPI_Comm_size(node, &ranks_on_node_);
  MPI_Comm_rank(node, &rank_on_node_);
  MPI_Comm_free(&node);
}

// A rank that leaves by an exception must not wait for the others in MPI_Finalize: main catches, tells and calls
// abort().
MpiEnvironment::~MpiEnvironment() {
  if (std::uncaught_exceptions() == 0) MPI_Finalize();
}

Communicator MpiEnvironment::world(Communicator::Checking checking) const {
  return Communicator("world", MPI_COMM_WORLD, checking);
}

std::string MpiEnvironment::library_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  std::string version(text.data(), static_cast<std::size_t>(length));
  const std::size_t end = version.find_first_of(",\n");
  return version.substr(0, end);
}

std::string MpiEnvironment::host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "unknown";
  return name.data();
}

void MpiEnvironment::abort(int code) {
  int initialized = 0, finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  if (initialized && !finalized) MPI_Abort(MPI_COMM_WORLD, code);
  std::_Exit(code);
}

}  // namespace maxplus
