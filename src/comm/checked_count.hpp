#pragma once
// The one place where a size becomes the `int` that MPI counts with: a wrapped count would be silent.

#include <cstddef>

namespace maxplus {

// Throws Error(ExitCode::software) when it does not fit.
int checked_count(std::size_t count);

// Throws an Error that names the call and the communicator unless `code` is MPI_SUCCESS: memory is 71, files are 74,
// everything else is our bug (70).
void check_mpi(int code, const char* call, const char* communicator);

}  // namespace maxplus
