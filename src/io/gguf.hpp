#pragma once
// The GGUF format, versions 2 and 3: a header, metadata under keys, a directory of tensors, aligned data.
//
// The file is mapped, and nothing of it is copied but the places of its entries, so that memory stays small against
// the file whatever its counts claim. Everything is checked when the file is opened: counts and lengths against the
// file, types, alignment, ranges against each other. A violation throws Error(ExitCode::data) with one line that names
// file, byte, key or tensor, and fault. Views point into the mapping and live as long as the GgufFile.

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/file.hpp"
#include "io/gguf_types.hpp"

namespace maxplus {

class GgufCursor;

// A value of the metadata: one thing, or a list of things of one kind (not of lists).
class GgufValue {
 public:
  GgufKind kind() const { return kind_; }  // of the elements for a list
  bool is_list() const { return list_; }
  std::uint64_t count() const { return count_; }  // 1 for what is no list
  std::string_view type_name() const;             // "u32", "string", "list of f32", ...

  // Element i as a number, where its kind can be one: nothing for other kinds, for u64 beyond i64 and, with whole(),
  // for fractions.
  std::optional<std::int64_t> whole(std::uint64_t i) const;
  std::optional<double> number(std::uint64_t i) const;
  std::optional<bool> flag(std::uint64_t i) const;
  // Strings have no table of places: they are visited in order.
  void for_each_text(const std::function<void(std::string_view)>& visit) const;

 private:
  friend class GgufFile;
  GgufKind kind_ = GgufKind::u8;
  bool list_ = false;
  std::uint64_t count_ = 1;
  const std::byte* data_ = nullptr;
};

struct GgufTensor {
  std::string_view name;
  const GgufTensorType* type = nullptr;
  int rank = 0;
  std::array<std::int64_t, 4> extents{};  // fastest first, `rank` of them
  std::span<const std::byte> data;

  std::int64_t elements() const;
  std::int64_t row_elements() const { return extents[0]; }
  std::int64_t rows() const { return elements() / extents[0]; }
  std::span<const std::byte> row(std::int64_t index) const;
  std::vector<std::int64_t> extents_slowest_first() const;  // as other formats write a shape
};

class GgufFile {
 public:
  // Throws Error(ExitCode::no_input) when it cannot be read, ExitCode::data when it is broken.
  explicit GgufFile(const std::filesystem::path& path);

  const std::string& where() const { return where_; }
  std::uint32_t version() const { return version_; }

  std::size_t key_count() const { return keys_.size(); }
  std::string_view key(std::size_t i) const;  // in the order of the file
  GgufValue value(std::size_t i) const;
  std::optional<GgufValue> find(std::string_view key) const;

  // Nothing when the key is absent; Error(ExitCode::data) that names it when its value is of another type.
  std::optional<std::int64_t> whole(std::string_view key) const;
  std::optional<double> number(std::string_view key) const;  // whole numbers too
  std::optional<bool> flag(std::string_view key) const;
  std::optional<std::string_view> text(std::string_view key) const;
  std::optional<std::vector<std::string_view>> texts(std::string_view key) const;  // 16 bytes a string

  std::size_t tensor_count() const { return tensors_.size(); }
  GgufTensor tensor(std::size_t i) const;  // in the order of the directory
  std::optional<GgufTensor> find_tensor(std::string_view name) const;
  const MappedFile& mapping() const { return file_; }

 private:
  struct Entry {
    GgufTensor tensor;  // without its data
    std::uint64_t offset = 0, bytes = 0;
  };
  Entry entry(std::size_t i) const;
  std::string_view tensor_name(std::size_t i) const;
  void read_keys(GgufCursor& cursor, std::uint64_t count);
  void check_key_names() const;
  void read_alignment();
  void read_tensors(GgufCursor& cursor, std::uint64_t count);
  void check_tensors();
  [[noreturn]] void refuse_tensor(std::size_t i, const std::string& found, const std::string& expected) const;
  [[noreturn]] void refuse_type(std::string_view key, const GgufValue& value, const std::string& expected) const;

  std::string where_;
  MappedFile file_;
  std::uint32_t version_ = 0;
  std::uint64_t alignment_ = 32, data_begin_ = 0;
  std::vector<std::uint64_t> keys_, tensors_;                // places of the entries, in the order of the file
  std::vector<std::uint32_t> keys_sorted_, tensors_sorted_;  // the same by name
};

// Whether the file begins as GGUF does; false for what cannot be read.
bool has_gguf_magic(const std::filesystem::path& path);

}  // namespace maxplus
