#pragma once
// Owned memory of a device. The bodies live in the kernel backend; this header knows no backend.

#include <cstddef>
#include <cstdint>

namespace maxplus {

enum class Space : std::uint8_t { host, device };

// Aligned to 64 bytes, zeroed, first touched by the team's threads, in huge pages where the system gives them.
// Throws Error(ExitCode::os) with the size when memory is refused.
class Memory {
 public:
  Memory() = default;
  Memory(std::size_t bytes, Space space);
  ~Memory();
  Memory(Memory&& other) noexcept;
  Memory& operator=(Memory&& other) noexcept;
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  Space space() const { return space_; }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
  Space space_ = Space::host;
};

}  // namespace maxplus
