// Memory of the host backend: anonymous mappings in huge pages.
//
// Not Kokkos::kokkos_malloc, because that promises neither 2 MiB alignment nor a moment between mapping and first touch
// in which huge pages can be asked for (4 KiB pages cost about a tenth of the read bandwidth), and refuses to free
// after Kokkos::finalize. A fresh mapping reads as zero and each page is placed where the thread runs that touches it
// first, which is the team thread that works on it.

#include "device/memory.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <sys/mman.h>

#include "base/error.hpp"

namespace maxplus {

namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kAlignment = 64;

[[noreturn]] void refuse(std::size_t bytes) {
  throw Error(ExitCode::os, Fault{"",
                                  fmt::format("the system refused {:.1f} MiB of memory: {}",
                                              static_cast<double>(bytes) / 1048576.0, std::strerror(errno)),
                                  "enough memory for the plan (see --estimate)",
                                  "use fewer ranks a node, a smaller micro-batch, or a larger node"});
}

void* map_aligned(std::size_t bytes) {
  if (bytes > SIZE_MAX - 2 * kHugePage) {
    errno = ENOMEM;
    refuse(bytes);
  }
  const std::size_t reserved = bytes + kHugePage;
  void* start = ::mmap(nullptr, reserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED) refuse(bytes);
  const auto address = reinterpret_cast<std::uintptr_t>(start);
  const std::uintptr_t aligned = (address + kHugePage - 1) / kHugePage * kHugePage;
  const std::size_t before = aligned - address, after = reserved - before - bytes;
  if (before > 0) ::munmap(start, before);
  if (after > 0) ::munmap(reinterpret_cast<void*>(aligned + bytes), after);
  // Only a wish: a kernel without huge pages is slower, not wrong.
  ::madvise(reinterpret_cast<void*>(aligned), bytes, MADV_HUGEPAGE);
  return reinterpret_cast<void*>(aligned);
}

// Whole pages for a mapping, whole lines below.
std::size_t rounded(std::size_t bytes) {
  const std::size_t unit = bytes >= kHugePage ? 4096 : kAlignment;
  return (bytes + unit - 1) / unit * unit;
}

}  // namespace

Memory::Memory(std::size_t bytes, Space space) : bytes_(bytes), space_(space) {
  if (bytes == 0) return;
  if (bytes > SIZE_MAX - 4096) {
    errno = ENOMEM;
    refuse(bytes);
  }
  const std::size_t size = rounded(bytes);
  if (size >= kHugePage) {
    data_ = map_aligned(size);
    return;
  }
  data_ = std::aligned_alloc(kAlignment, size);
  if (data_ == nullptr) refuse(bytes);
  std::memset(data_, 0, size);
}

Memory::~Memory() {
  if (data_ == nullptr) return;
  if (rounded(bytes_) >= kHugePage) {
    ::munmap(data_, rounded(bytes_));
  } else {
    std::free(data_);
  }
}

Memory::Memory(Memory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)), space_(other.space_) {}

Memory& Memory::operator=(Memory&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(space_, other.space_);
  return *this;
}

}  // namespace maxplus
