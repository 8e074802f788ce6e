#pragma once
// Whole files: mapped for reading, and written so that a reader sees the old file or the new one, never a part.

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace maxplus {

// A regular file mapped read-only. Throws Error(ExitCode::no_input) when it is missing, unreadable or no regular file.
class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return {static_cast<const std::byte*>(data_), size_}; }
  std::string_view text() const { return {static_cast<const char*>(data_), size_}; }

  // Copies a part by reading the file, without touching the mapping's pages: the quickest way for what is wanted once.
  // Throws Error(ExitCode::io) where the file is shorter now, or cannot be read.
  void read(std::span<const std::byte> part, void* out) const;
  // Of a part that is about to be read, or has been: starts reading ahead, or gives its pages back (they are read again
  // when they are touched again). Hints: nothing happens where the system knows none.
  void will_read(std::span<const std::byte> part) const;
  void has_read(std::span<const std::byte> part) const;

 private:
  std::string where_;
  int descriptor_ = -1;
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

// Writes "<path>.partial", flushes it to the disk and renames it in commit(); without a commit the partial file is
// removed. Throws Error(ExitCode::cannot_create) when it cannot be opened, Error(ExitCode::io) when writing fails.
class AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(const void* data, std::size_t bytes);
  void commit();

 private:
  std::filesystem::path path_, partial_;
  int descriptor_ = -1;
};

void write_text_file(const std::filesystem::path& path, std::string_view text);

}  // namespace maxplus
