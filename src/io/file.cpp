// Mapped reading and atomic writing of files by POSIX calls.
#include "io/file.hpp"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.hpp"

namespace maxplus {

namespace {

// Closes at the end of a scope.
struct OpenFile {
  int number;
  ~OpenFile() {
    if (number >= 0) ::close(number);
  }
};

[[noreturn]] void refuse_input(const std::filesystem::path& path, const std::string& found) {
  throw Error(ExitCode::no_input, Fault{path.string(), found, "a readable file", "check the path and its permissions"});
}

[[noreturn]] void refuse_write(const std::filesystem::path& path, const char* what) {
  throw Error(ExitCode::io, Fault{path.string(), fmt::format("{} failed: {}", what, std::strerror(errno)), "",
                                  "check the free space and the quota of that file system"});
}

// Whole pages that lie inside a part (giving back) or that hold it (reading ahead).
void advise(std::span<const std::byte> part, int advice) {
  static const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  auto begin = reinterpret_cast<std::uintptr_t>(part.data()), end = begin + part.size();
  begin = advice == MADV_DONTNEED ? (begin + page - 1) / page * page : begin / page * page;
  if (advice == MADV_DONTNEED) end = end / page * page;
  if (begin < end) (void)::madvise(reinterpret_cast<void*>(begin), end - begin, advice);
}

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path) : where_(path.string()) {
  // without O_NONBLOCK the open of a FIFO would wait for a writer
  OpenFile file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.number < 0) refuse_input(path, fmt::format("cannot be opened: {}", std::strerror(errno)));
  struct stat status;
  if (::fstat(file.number, &status) != 0) refuse_input(path, fmt::format("cannot be read: {}", std::strerror(errno)));
  if (S_ISDIR(status.st_mode)) refuse_input(path, "is a folder");
  if (!S_ISREG(status.st_mode)) refuse_input(path, "is not a regular file");
  size_ = static_cast<std::size_t>(status.st_size);
  if (size_ == 0) return;
  void* data = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.number, 0);
  if (data == MAP_FAILED) refuse_input(path, fmt::format("cannot be mapped: {}", std::strerror(errno)));
  data_ = data;
  descriptor_ = std::exchange(file.number, -1);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(data_, size_);
  if (descriptor_ >= 0) ::close(descriptor_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : where_(std::move(other.where_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(where_, other.where_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

void MappedFile::read(std::span<const std::byte> part, void* out) const {
  auto* to = static_cast<char*>(out);
  auto place = part.data() - static_cast<const std::byte*>(data_);
  for (std::size_t left = part.size(); left > 0;) {
    const ssize_t got = ::pread(descriptor_, to, left, place);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      throw Error(ExitCode::io, Fault{where_,
                                      fmt::format("cannot be read at byte {}: {}", place,
                                                  got == 0 ? "it is shorter than before" : std::strerror(errno)),
                                      "a file that stays as it is", "check the disk, and who else writes there"});
    }
    to += got;
    place += got;
    left -= static_cast<std::size_t>(got);
  }
}

void MappedFile::will_read(std::span<const std::byte> part) const { advise(part, MADV_WILLNEED); }
void MappedFile::has_read(std::span<const std::byte> part) const { advise(part, MADV_DONTNEED); }

AtomicFile::AtomicFile(std::filesystem::path path) : path_(std::move(path)), partial_(path_) {
  partial_ += ".partial";
  descriptor_ = ::open(partial_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor_ < 0) {
    throw Error(ExitCode::cannot_create,
                Fault{partial_.string(), fmt::format("cannot be created: {}", std::strerror(errno)),
                      "a folder that can be written to", "check the path and its permissions"});
  }
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
    ::unlink(partial_.c_str());
  }
}

void AtomicFile::write(const void* data, std::size_t bytes) {
  const char* from = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t written = ::write(descriptor_, from, bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) refuse_write(partial_, "writing");
    from += written;
    bytes -= static_cast<std::size_t>(written);
  }
}

void AtomicFile::commit() {
  if (::fsync(descriptor_) != 0) refuse_write(partial_, "flushing to the disk");
  if (::rename(partial_.c_str(), path_.c_str()) != 0) refuse_write(path_, "renaming the finished file");
  const int descriptor = std::exchange(descriptor_, -1);
  if (::close(descriptor) != 0) refuse_write(path_, "closing");
  // the rename itself lasts only when the folder has reached the disk; file systems that cannot do that say so, which
  // is fine
  const std::filesystem::path parent = path_.has_parent_path() ? path_.parent_path() : std::filesystem::path(".");
  const OpenFile folder{::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (folder.number >= 0) ::fsync(folder.number);
}

void write_text_file(const std::filesystem::path& path, std::string_view text) {
  AtomicFile file(path);
  file.write(text.data(), text.size());
  file.commit();
}

}  // namespace maxplus
