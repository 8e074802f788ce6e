#pragma once
// A checkpoint: named f32 tensors, a few numbers and one JSON text in an HDF5 file that is either complete and verified
// or not there.
//
// Order of a write: reserve space; one process lays out the file; all ranks write their parts collectively and agree
// after each dataset; flush and fsync everywhere; close; reopen and compare with hashes; rename; fsync the folder; move
// the text file `latest`; only then retire older ones. An error at any rank is the same Error(io) on all, leaves the
// older checkpoints alone and removes the temporary file ("iteration-000007.h5.partial"; a killed run leaves it to be
// overwritten).
//
// Tensors are cut into blocks, each with an xxh3-64 hash that also depends on tensor, block and iteration; a seal over
// all hashes and small values ties them together. The ranks' parts are whole blocks, so the file has the same bytes on
// any number of ranks, and can be read on any.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <mpi.h>

namespace maxplus {

// A tensor to be written: ranks that hold it hold all elements (data parallelism), and each of them writes a part.
struct CheckpointTensor {
  std::string name;
  std::span<const float> values;  // of a rank that does not hold it: without data
  std::int64_t elements = -1;     // negative: those of values
  std::vector<int> holders = {};  // ranks of the group, ascending; none are named: all
  std::int64_t size() const { return elements < 0 ? static_cast<std::int64_t>(values.size()) : elements; }
};

struct CheckpointContents {
  std::int64_t iteration = 0;
  std::vector<CheckpointTensor> tensors;
  std::map<std::string, std::int64_t> integers;
  std::map<std::string, double> numbers;
  std::map<std::string, std::string> texts;
  std::string state;  // JSON: everything small
};

enum class CheckpointVerify { sample, full };  // one block a rank, or all

struct CheckpointSettings {
  int keep = 2;  // verified ones, the new one included; less than 2 counts as 2
  CheckpointVerify verify = CheckpointVerify::sample;
  std::int64_t block_elements = std::int64_t{1} << 18;  // 1 MiB; a property of the file
};

struct CheckpointReport {
  std::string path;
  std::int64_t bytes = 0;
  double seconds = 0;
  std::vector<std::string> retired;  // names deleted
};

// "iteration-000012.h5"
std::string checkpoint_name(std::int64_t iteration);

// Collective. `folder` is made if its parent exists. `verified` lists names of this folder that are known to be good
// and is kept up to date; an older file that is not in it is read through before it counts for `keep`. Keep it for the
// run. Error(numeric) if a value is not finite: nothing is written. MPI_COMM_SELF needs no MPI_Init.
CheckpointReport write_checkpoint(const std::string& folder, MPI_Comm ranks, const CheckpointContents& contents,
                                  const CheckpointSettings& settings, std::set<std::string>& verified);

// What a file holds, without its tensors' values.
struct CheckpointHeader {
  struct Tensor {
    std::string name;
    std::int64_t elements;
  };
  std::int64_t format = 0;
  std::int64_t iteration = 0;
  std::int64_t block_elements = 0;
  std::vector<Tensor> tensors;
  std::map<std::string, std::int64_t> integers;
  std::map<std::string, double> numbers;
  std::map<std::string, std::string> texts;
  std::string state;
};

// Reads in one process, without MPI. Everything it returns has been checked against its hash; Error(data) otherwise,
// Error(no_input) where the file cannot be opened.
class CheckpointReader {
 public:
  explicit CheckpointReader(const std::string& path);
  ~CheckpointReader();
  CheckpointReader(CheckpointReader&&) noexcept;
  CheckpointReader& operator=(CheckpointReader&&) noexcept;

  const CheckpointHeader& header() const;
  std::int64_t blocks(std::size_t tensor) const;
  // Blocks [first, last) of a tensor, from its element first * block_elements on.
  void read_blocks(std::size_t tensor, std::int64_t first, std::int64_t last, std::span<float> out) const;
  // A whole tensor; Error(data) if it is not there or has another size.
  void read(const std::string& name, std::span<float> out) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// A tensor to be read, whole on every rank.
struct CheckpointTarget {
  std::string name;
  std::span<float> values;
};

// Collective: every rank reads and checks a part, and sends it to the others. Tensors that are not asked for are not
// read.
CheckpointHeader read_checkpoint(const std::string& path, MPI_Comm ranks, std::span<const CheckpointTarget> targets);

// Collective: reads all of it, each rank a part. Nothing if it is good, else why not.
std::optional<std::string> fault_of_checkpoint(const std::string& path, MPI_Comm ranks);

struct ValidCheckpoint {
  std::optional<std::string> path;   // of the newest good one
  std::vector<std::string> refused;  // "iteration-000012.h5: why", in the order tried
  std::int64_t damaged = 0;          // checkpoints that are there and cannot be used
};

// Collective: tries what `latest` names, then the older ones, then those above it. Rank 0 decides what is tried.
ValidCheckpoint newest_valid_checkpoint(const std::string& folder, MPI_Comm ranks);

}  // namespace maxplus
