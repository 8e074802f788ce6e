#include "io/hdf5_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <functional>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>
#include <hdf5.h>

#include "base/error.hpp"

#ifndef H5_HAVE_PARALLEL
#error "this HDF5 was built without MPI; cmake/Dependencies.cmake should have refused it"
#endif

namespace maxplus {

namespace {

// Closes what it holds, by the function that belongs to it.
class Handle {
 public:
  Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  Handle& operator=(Handle&&) = delete;
  hid_t id() const { return id_; }
  bool valid() const { return id_ >= 0; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

herr_t append_message(unsigned depth, const H5E_error2_t* error, void* out) {
  auto& text = *static_cast<std::string*>(out);
  constexpr unsigned kShown = 12;
  if (depth < kShown && error->desc != nullptr) text += fmt::format("{}{}", text.empty() ? "" : "; ", error->desc);
  return 0;
}

// The error stack as one sentence, outermost call first; the stack is emptied.
std::string error_stack() {
  std::string text;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, append_message, &text);
  H5Eclear2(H5E_DEFAULT);
  return text.empty() ? "no reason given" : text;
}

[[noreturn]] void fail(ExitCode code, const std::string& path, const std::string& what) {
  Fault fault{"", fmt::format("{}: {}: {}", path, what, error_stack()), "", ""};
  if (code == ExitCode::io) {
    fault.expected = "a file system with free space that can be written";
    fault.advice =
        "free space or choose another folder; where the file system has no locks, set HDF5_USE_FILE_LOCKING=FALSE";
  } else {
    fault.expected = "a file that was written completely and not changed since";
    fault.advice = "use an older file, or make it again";
  }
  throw Error(code, fault);
}

void quiet() { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); }

hid_t memory_type(DType type) {
  switch (type) {
    case DType::f32: return H5T_NATIVE_FLOAT;
    case DType::f64: return H5T_NATIVE_DOUBLE;
    case DType::i64: return H5T_NATIVE_INT64;
    case DType::u8: return H5T_NATIVE_UINT8;
    default: break;
  }
  MAXPLUS_REQUIRE(false, "datasets hold f32, f64, i64 or u8");
}

hid_t stored_type(DType type) {
  switch (type) {
    case DType::f32: return H5T_IEEE_F32LE;
    case DType::f64: return H5T_IEEE_F64LE;
    case DType::i64: return H5T_STD_I64LE;
    case DType::u8: return H5T_STD_U8LE;
    default: break;
  }
  MAXPLUS_REQUIRE(false, "datasets hold f32, f64, i64 or u8");
}

Handle access_list(MPI_Comm ranks) {
  quiet();
  Handle list(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_libver_bounds(list.id(), H5F_LIBVER_V110, H5F_LIBVER_V110);
  H5Pset_alignment(list.id(), 64 << 10, 1 << 20);
  H5Pset_file_locking(list.id(), 0, 1);
  if (ranks != MPI_COMM_NULL) {
    H5Pset_fapl_mpio(list.id(), ranks, MPI_INFO_NULL);
    H5Pset_all_coll_metadata_ops(list.id(), 1);
    H5Pset_coll_metadata_write(list.id(), 1);
  }
  return list;
}

Handle open_dataset(hid_t file, const std::string& path, const std::string& name) {
  Handle set(H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose);
  if (!set.valid()) fail(ExitCode::data, path, fmt::format("no dataset '{}'", name));
  return set;
}

std::optional<DType> type_of(hid_t set) {
  const Handle type(H5Dget_type(set), H5Tclose);
  for (DType candidate : {DType::f32, DType::f64, DType::i64, DType::u8}) {
    if (type.valid() && H5Tequal(type.id(), stored_type(candidate)) > 0) return candidate;
  }
  return std::nullopt;
}

// Extent of a one-dimensional dataset, or -1.
std::int64_t extent_of(hid_t set) {
  const Handle space(H5Dget_space(set), H5Sclose);
  hsize_t extent = 0;
  if (!space.valid() || H5Sget_simple_extent_ndims(space.id()) != 1) return -1;
  if (H5Sget_simple_extent_dims(space.id(), &extent, nullptr) != 1) return -1;
  return static_cast<std::int64_t>(extent);
}

// Memory and file selections of one piece; an empty one selects nothing, and still takes part.
struct Selection {
  Selection(hid_t set, std::int64_t first, std::int64_t count)
      : file(H5Dget_space(set), H5Sclose), memory(make_memory(count), H5Sclose) {
    if (count == 0) {
      H5Sselect_none(file.id());
      H5Sselect_none(memory.id());
      return;
    }
    const auto start = static_cast<hsize_t>(first), length = static_cast<hsize_t>(count);
    H5Sselect_hyperslab(file.id(), H5S_SELECT_SET, &start, nullptr, &length, nullptr);
  }
  static hid_t make_memory(std::int64_t count) {
    const auto length = static_cast<hsize_t>(std::max<std::int64_t>(1, count));
    return H5Screate_simple(1, &length, nullptr);
  }
  Handle file, memory;
};

void check_system(const std::string& path, int flags) {
  const int descriptor = ::open(path.c_str(), flags | O_CLOEXEC);
  if (descriptor < 0) {
    throw Error(ExitCode::no_input, Fault{"", fmt::format("cannot open {}: {}", path, std::strerror(errno)),
                                          "a file that this user may read", "check the path and its permissions"});
  }
  ::close(descriptor);
}

// The groups that a dataset's name goes through. HDF5 would make them itself, but with the time of day in them.
void make_groups(hid_t file, const std::string& path, const std::string& name) {
  const Handle creation(H5Pcreate(H5P_GROUP_CREATE), H5Pclose);
  H5Pset_obj_track_times(creation.id(), 0);
  for (std::size_t slash = name.find('/', 1); slash != std::string::npos; slash = name.find('/', slash + 1)) {
    const std::string group = name.substr(0, slash);
    if (H5Lexists(file, group.c_str(), H5P_DEFAULT) > 0) continue;
    const Handle made(H5Gcreate2(file, group.c_str(), H5P_DEFAULT, creation.id(), H5P_DEFAULT), H5Gclose);
    if (!made.valid()) fail(ExitCode::io, path, fmt::format("cannot create the group '{}'", group));
  }
}

herr_t collect_dataset(hid_t file, const char* name, const H5O_info_t* info, void* out) {
  (void)file;
  if (info->type == H5O_TYPE_DATASET) static_cast<std::vector<std::string>*>(out)->emplace_back(name);
  return 0;
}

void write_attribute(hid_t file, const std::string& path, const std::string& name, hid_t stored, hid_t memory,
                     const void* value) {
  const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  if (H5Aexists(file, name.c_str()) > 0) H5Adelete(file, name.c_str());
  const Handle attribute(H5Acreate2(file, name.c_str(), stored, space.id(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  if (!attribute.valid() || H5Awrite(attribute.id(), memory, value) < 0) {
    fail(ExitCode::io, path, fmt::format("cannot write the attribute '{}'", name));
  }
}

Handle open_attribute(hid_t file, const std::string& path, const std::string& name) {
  Handle attribute(H5Aopen(file, name.c_str(), H5P_DEFAULT), H5Aclose);
  if (!attribute.valid()) fail(ExitCode::data, path, fmt::format("no attribute '{}'", name));
  return attribute;
}

void read_attribute(hid_t file, const std::string& path, const std::string& name, H5T_class_t kind, hid_t memory,
                    void* value) {
  const Handle attribute = open_attribute(file, path, name);
  const Handle type(H5Aget_type(attribute.id()), H5Tclose);
  if (H5Tget_class(type.id()) != kind || H5Aread(attribute.id(), memory, value) < 0) {
    fail(ExitCode::data, path, fmt::format("cannot read the attribute '{}'", name));
  }
}

}  // namespace

bool has_hdf5_magic(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  char head[8] = {};
  file.read(head, sizeof head);
  return file && std::string_view(head, sizeof head) == std::string_view("\x89HDF\r\n\x1a\n", sizeof head);
}

void prepare_hdf5() {
  H5dont_atexit();
  H5open();  // it hooks itself into MPI_Finalize only if MPI is there when it starts
}

Hdf5File::Hdf5File(std::string path, std::int64_t file, MPI_Comm ranks)
    : path_(std::move(path)), file_(file), ranks_(ranks) {}

Hdf5File::~Hdf5File() {
  if (file_ >= 0) H5Fclose(file_);
}

Hdf5File::Hdf5File(Hdf5File&& other) noexcept
    : path_(std::move(other.path_)),
      file_(std::exchange(other.file_, -1)),
      ranks_(other.ranks_),
      piece_(other.piece_) {}

Hdf5File& Hdf5File::operator=(Hdf5File&& other) noexcept {
  if (this == &other) return *this;
  if (file_ >= 0) H5Fclose(file_);
  path_ = std::move(other.path_);
  file_ = std::exchange(other.file_, -1);
  ranks_ = other.ranks_;
  piece_ = other.piece_;
  return *this;
}

Hdf5File Hdf5File::create(const std::string& path) { return create(path, MPI_COMM_NULL); }

Hdf5File Hdf5File::create(const std::string& path, MPI_Comm ranks) {
  const Handle access = access_list(ranks);
  const Handle creation(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
  H5Pset_obj_track_times(creation.id(), 0);
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation.id(), access.id());
  if (file < 0) fail(ExitCode::io, path, "cannot create the file");
  return Hdf5File(path, file, ranks);
}

Hdf5File Hdf5File::open(const std::string& path, Mode mode) { return open(path, mode, MPI_COMM_NULL); }

Hdf5File Hdf5File::open(const std::string& path, Mode mode, MPI_Comm ranks) {
  check_system(path, mode == Mode::read ? O_RDONLY : O_RDWR);
  const Handle access = access_list(ranks);
  const hid_t file = H5Fopen(path.c_str(), mode == Mode::read ? H5F_ACC_RDONLY : H5F_ACC_RDWR, access.id());
  if (file < 0) fail(ExitCode::data, path, "is no sound HDF5 file");
  return Hdf5File(path, file, ranks);
}

void Hdf5File::create_dataset(const std::string& name, DType type, std::int64_t elements) {
  make_groups(file_, path_, name);
  const Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_layout(creation.id(), H5D_CONTIGUOUS);
  H5Pset_alloc_time(creation.id(), H5D_ALLOC_TIME_EARLY);
  H5Pset_fill_time(creation.id(), H5D_FILL_TIME_NEVER);
  H5Pset_obj_track_times(creation.id(), 0);
  const auto extent = static_cast<hsize_t>(elements);
  const Handle space(H5Screate_simple(1, &extent, nullptr), H5Sclose);
  const Handle set(
      H5Dcreate2(file_, name.c_str(), stored_type(type), space.id(), H5P_DEFAULT, creation.id(), H5P_DEFAULT),
      H5Dclose);
  if (!set.valid())
    fail(ExitCode::io, path_, fmt::format("cannot create the dataset '{}' of {} elements", name, elements));
}

std::optional<Hdf5File::Dataset> Hdf5File::find(const std::string& name) const {
  const Handle set(H5Dopen2(file_, name.c_str(), H5P_DEFAULT), H5Dclose);
  if (!set.valid()) {
    H5Eclear2(H5E_DEFAULT);
    return std::nullopt;
  }
  const std::optional<DType> type = type_of(set.id());
  const std::int64_t elements = extent_of(set.id());
  if (!type || elements < 0)
    fail(ExitCode::data, path_, fmt::format("the dataset '{}' has another shape or type", name));
  return Dataset{*type, elements};
}

std::vector<std::string> Hdf5File::datasets() const {
  std::vector<std::string> names;
  if (H5Ovisit2(file_, H5_INDEX_NAME, H5_ITER_INC, collect_dataset, &names, H5O_INFO_BASIC) < 0) {
    fail(ExitCode::data, path_, "cannot list the datasets");
  }
  std::sort(names.begin(), names.end());
  return names;
}

// How many transfers all ranks make: as many as the one with the largest part needs.
std::int64_t Hdf5File::pieces(std::int64_t count, DType type) const {
  const std::int64_t most = std::max<std::int64_t>(1, static_cast<std::int64_t>(piece_ / size_of(type)));
  std::int64_t mine = (count + most - 1) / most, all = mine;
  if (ranks_ != MPI_COMM_NULL && MPI_Allreduce(&mine, &all, 1, MPI_INT64_T, MPI_MAX, ranks_) != MPI_SUCCESS) {
    throw Error(ExitCode::software, "MPI_Allreduce failed before a transfer to " + path_);
  }
  return all;
}

std::int64_t Hdf5File::transfer_list() const {
  const hid_t list = H5Pcreate(H5P_DATASET_XFER);
  if (ranks_ != MPI_COMM_NULL) H5Pset_dxpl_mpio(list, H5FD_MPIO_COLLECTIVE);
  return list;
}

void Hdf5File::write(const std::string& name, DType type, const void* data, std::int64_t first, std::int64_t count) {
  const Handle set = open_dataset(file_, path_, name);
  const Handle transfer(transfer_list(), H5Pclose);
  const std::int64_t most = std::max<std::int64_t>(1, static_cast<std::int64_t>(piece_ / size_of(type)));
  const std::int64_t steps = pieces(count, type);
  bool failed = false;  // all ranks make all transfers, whatever happens to one of them
  for (std::int64_t p = 0; p < steps; ++p) {
    const std::int64_t at = std::min(count, p * most), n = std::min(most, count - at);
    const Selection selection(set.id(), first + at, n);
    const void* source = n > 0 ? static_cast<const char*>(data) + static_cast<std::size_t>(at) * size_of(type) : "";
    if (H5Dwrite(set.id(), memory_type(type), selection.memory.id(), selection.file.id(), transfer.id(), source) < 0)
      failed = true;
  }
  if (failed)
    fail(ExitCode::io, path_, fmt::format("cannot write elements [{}, {}) of '{}'", first, first + count, name));
}

void Hdf5File::read(const std::string& name, DType type, void* data, std::int64_t first, std::int64_t count) const {
  const Handle set = open_dataset(file_, path_, name);
  const Handle transfer(transfer_list(), H5Pclose);
  const std::int64_t most = std::max<std::int64_t>(1, static_cast<std::int64_t>(piece_ / size_of(type)));
  const std::int64_t steps = pieces(count, type);
  bool failed = false;
  char unused = 0;
  for (std::int64_t p = 0; p < steps; ++p) {
    const std::int64_t at = std::min(count, p * most), n = std::min(most, count - at);
    const Selection selection(set.id(), first + at, n);
    void* target = n > 0 ? static_cast<char*>(data) + static_cast<std::size_t>(at) * size_of(type) : &unused;
    if (H5Dread(set.id(), memory_type(type), selection.memory.id(), selection.file.id(), transfer.id(), target) < 0)
      failed = true;
  }
  if (failed)
    fail(ExitCode::data, path_, fmt::format("cannot read elements [{}, {}) of '{}'", first, first + count, name));
}

void Hdf5File::set_attribute(const std::string& name, std::int64_t value) {
  write_attribute(file_, path_, name, H5T_STD_I64LE, H5T_NATIVE_INT64, &value);
}

void Hdf5File::set_attribute(const std::string& name, double value) {
  write_attribute(file_, path_, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &value);
}

void Hdf5File::set_attribute(const std::string& name, const std::string& value) {
  const Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type.id(), value.size() + 1);
  H5Tset_cset(type.id(), H5T_CSET_UTF8);
  write_attribute(file_, path_, name, type.id(), type.id(), value.c_str());
}

std::int64_t Hdf5File::integer_attribute(const std::string& name) const {
  std::int64_t value = 0;
  read_attribute(file_, path_, name, H5T_INTEGER, H5T_NATIVE_INT64, &value);
  return value;
}

double Hdf5File::number_attribute(const std::string& name) const {
  double value = 0;
  read_attribute(file_, path_, name, H5T_FLOAT, H5T_NATIVE_DOUBLE, &value);
  return value;
}

std::string Hdf5File::text_attribute(const std::string& name) const {
  const Handle attribute = open_attribute(file_, path_, name);
  const Handle type(H5Aget_type(attribute.id()), H5Tclose);
  if (H5Tget_class(type.id()) != H5T_STRING || H5Tis_variable_str(type.id()) > 0) {
    fail(ExitCode::data, path_, fmt::format("the attribute '{}' is no text of fixed length", name));
  }
  std::string text(H5Tget_size(type.id()), '\0');
  if (H5Aread(attribute.id(), type.id(), text.data()) < 0)
    fail(ExitCode::data, path_, fmt::format("cannot read the attribute '{}'", name));
  text.resize(std::strlen(text.c_str()));
  return text;
}

void Hdf5File::flush() {
  if (H5Fflush(file_, H5F_SCOPE_GLOBAL) < 0) fail(ExitCode::io, path_, "cannot flush the file");
}

void Hdf5File::close() {
  if (file_ >= 0 && H5Fclose(std::exchange(file_, -1)) < 0) fail(ExitCode::io, path_, "cannot close the file");
}

}  // namespace maxplus
