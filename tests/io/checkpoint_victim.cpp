// A program to be killed: writes checkpoints whose contents are a function of the iteration, or checks what is there.
//
//   checkpoint_victim write FOLDER FIRST LAST   iterations FIRST ... LAST, on all ranks; exit code of an Error
//   checkpoint_victim check FOLDER LEAST        exit 0 if the newest good one is at least iteration LEAST and right
#include <cstdio>
#include <cstdlib>
#include <string>

#include <mpi.h>
#include <unistd.h>

#include "base/error.hpp"
#include "io/checkpoint_contents.hpp"
#include "io/checkpoint_file.hpp"
#include "io/hdf5_file.hpp"

namespace {

constexpr std::int64_t kLargest = 200000;

int write(const std::string& folder, std::int64_t first, std::int64_t last) {
  std::set<std::string> verified;
  for (std::int64_t i = first; i <= last; ++i) {
    const maxplus::KnownContents known(i, kLargest);
    maxplus::write_checkpoint(folder, MPI_COMM_WORLD, known.contents, {2, maxplus::CheckpointVerify::sample, 4096}, verified);
  }
  return 0;
}

int check(const std::string& folder, std::int64_t least) {
  const auto found = maxplus::newest_valid_checkpoint(folder, MPI_COMM_SELF);
  for (const std::string& line : found.refused) std::printf("refused %s\n", line.c_str());
  if (!found.path) {
    std::printf("no good checkpoint\n");
    return 1;
  }
  const std::int64_t iteration = maxplus::CheckpointReader(*found.path).header().iteration;
  const std::string wrong = maxplus::difference(*found.path, MPI_COMM_SELF, maxplus::KnownContents(iteration, kLargest));
  std::printf("iteration %lld %s\n", static_cast<long long>(iteration), wrong.empty() ? "right" : wrong.c_str());
  return iteration >= least && wrong.empty() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string verb = argc > 2 ? argv[1] : "";
  if (verb == "check" && argc == 4) return check(argv[2], std::atoll(argv[3]));
  if (verb != "write" || argc != 5) return 64;
  maxplus::prepare_hdf5();
  MPI_Init(&argc, &argv);
  int code = 0;
  try {
    code = write(argv[2], std::atoll(argv[3]), std::atoll(argv[4]));
  } catch (const maxplus::Error& error) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) std::fputs(maxplus::format_faults(error.faults()).c_str(), stderr);
    code = static_cast<int>(error.code());
  }
  MPI_Finalize();
  return code;
}
