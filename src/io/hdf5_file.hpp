#pragma once
// A file of one-dimensional datasets: RAII over HDF5's C interface, whose error stack becomes one Error.
//
// Newest file format (its metadata carry checksums), datasets contiguous, aligned to 1 MiB above 64 KiB, allocated when
// they are created and never filled, no time stamps: equal contents give equal bytes. File locking is off; we write
// only under names of our own. Data have no checksum of HDF5's; whoever needs one stores hashes (checkpoint_file.hpp).
//
// A file is open in one process ("serial", needs no MPI), or on all ranks of a communicator; then every call is
// collective, also for a rank that has nothing to write. The communicator must be plain: not Cartesian (Open MPI's
// component has written wrong data through such ones).

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <mpi.h>

#include "tensor/dtype.hpp"

namespace maxplus {

// Call once before MPI_Init. HDF5 then does nothing of its own when the process ends or MPI is finalized. Otherwise it
// would try again to write what a full disk has refused, on files that could not be closed, and crash or wait for ever.
void prepare_hdf5();

// Whether the file begins as HDF5 does; false for what cannot be read.
bool has_hdf5_magic(const std::string& path);

class Hdf5File {
 public:
  enum class Mode { read, read_write };

  // An existing file is overwritten.
  static Hdf5File create(const std::string& path);
  static Hdf5File create(const std::string& path, MPI_Comm ranks);
  // Error(no_input) when it cannot be opened by the system, Error(data) when it is no sound HDF5 file.
  static Hdf5File open(const std::string& path, Mode mode);
  static Hdf5File open(const std::string& path, Mode mode, MPI_Comm ranks);
  ~Hdf5File();  // closes without a word; call close() to hear of errors
  Hdf5File(Hdf5File&& other) noexcept;
  Hdf5File& operator=(Hdf5File&& other) noexcept;

  const std::string& path() const { return path_; }

  // Groups in a name ("weights/a.b") are made as needed. f32, f64, i64, u8.
  void create_dataset(const std::string& name, DType type, std::int64_t elements);
  struct Dataset {
    DType type;
    std::int64_t elements;
  };
  std::optional<Dataset> find(const std::string& name) const;
  // The names of all datasets, sorted by byte order.
  std::vector<std::string> datasets() const;

  // Elements [first, first + count) of this rank. Pieces stay below 1 GiB; ranks need not have equally many.
  void write(const std::string& name, DType type, const void* data, std::int64_t first, std::int64_t count);
  void read(const std::string& name, DType type, void* data, std::int64_t first, std::int64_t count) const;
  // Largest transfer of one call, for tests.
  void limit_pieces(std::size_t bytes) { piece_ = bytes; }

  // Attributes of the file's root. The same value on every rank.
  void set_attribute(const std::string& name, std::int64_t value);
  void set_attribute(const std::string& name, double value);
  void set_attribute(const std::string& name, const std::string& value);
  std::int64_t integer_attribute(const std::string& name) const;
  double number_attribute(const std::string& name) const;
  std::string text_attribute(const std::string& name) const;

  // To the disk: on a communicator this includes fsync on all ranks.
  void flush();
  void close();
  // Forgets the file without closing it. After an error that all ranks have agreed on, closing would try to write
  // again, and a rank that fails there leaves the others waiting.
  void abandon() { file_ = -1; }

 private:
  Hdf5File(std::string path, std::int64_t file, MPI_Comm ranks);
  std::int64_t pieces(std::int64_t count, DType type) const;
  std::int64_t transfer_list() const;

  std::string path_;
  std::int64_t file_ = -1;  // hid_t, which users of this header need not know
  MPI_Comm ranks_ = MPI_COMM_NULL;
  std::size_t piece_ = std::size_t{512} << 20;
};

}  // namespace maxplus
