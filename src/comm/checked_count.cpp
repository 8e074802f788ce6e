#include "comm/checked_count.hpp"

#include <array>
#include <limits>
#include <string>

#include <fmt/format.h>
#include <mpi.h>

#include "base/error.hpp"

namespace maxplus {

int checked_count(std::size_t count) {
  MAXPLUS_REQUIRE(count <= static_cast<std::size_t>(std::numeric_limits<int>::max()),
                  fmt::format("{} elements in one MPI call", count));
  return static_cast<int>(count);
}

void check_mpi(int code, const char* call, const char* communicator) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0, error_class = MPI_ERR_OTHER;
  MPI_Error_string(code, text.data(), &length);
  MPI_Error_class(code, &error_class);
  ExitCode exit = ExitCode::software;
  if (error_class == MPI_ERR_NO_MEM) exit = ExitCode::os;
  if (error_class == MPI_ERR_IO || error_class == MPI_ERR_NO_SPACE || error_class == MPI_ERR_QUOTA) exit = ExitCode::io;
  throw Error(exit, Fault{"",
                          fmt::format("{} on the communicator '{}' failed: {}", call, communicator,
                                      std::string(text.data(), static_cast<std::size_t>(length))),
                          "every MPI call returns without an error",
                          "look for an earlier message of another rank; if there is none, report this as a bug"});
}

}  // namespace maxplus
