#pragma once
// A named block of memory that is handed out from the front and taken back by marks.
//
// A plan is the same code run on a counting arena: it hands out null views, remembers the largest extent, and
// allocates nothing. The real arena is then built with exactly that many bytes, so plan and run cannot disagree.

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>

#include "device/memory.hpp"
#include "tensor/tensor_view.hpp"

namespace maxplus {

class Arena {
 public:
  static constexpr std::size_t kAlignment = 64;

  // A counting arena.
  explicit Arena(std::string name);
  // A real one. Throws Error(ExitCode::os) when memory is refused.
  Arena(std::string name, std::size_t bytes, Space space);

  // Uninitialised (zero when first handed out). Throws (a bug) when a real arena is full.
  TensorView take(DType dtype, std::initializer_list<std::int64_t> extents);

  std::size_t mark() const { return used_; }
  void release(std::size_t mark);  // everything taken since

  bool counting() const { return counting_; }
  std::size_t used() const { return used_; }
  std::size_t peak() const { return peak_; }  // the largest `used` so far
  std::size_t capacity() const { return memory_.bytes(); }
  const std::string& name() const { return name_; }
  Space space() const { return space_; }

 private:
  std::string name_;
  bool counting_;
  Space space_;
  Memory memory_;
  std::size_t used_ = 0;
  std::size_t peak_ = 0;
};

// Releases at the end of a scope.
class ArenaScope {
 public:
  explicit ArenaScope(Arena& arena) : arena_(arena), mark_(arena.mark()) {}
  ~ArenaScope() { arena_.release(mark_); }
  ArenaScope(const ArenaScope&) = delete;
  ArenaScope& operator=(const ArenaScope&) = delete;

 private:
  Arena& arena_;
  std::size_t mark_;
};

}  // namespace maxplus
