#pragma once
// The safetensors format: 8 bytes of header length, a JSON header, one buffer that the tensors cover without a hole.
//
// Everything a file says is checked before it is used: lengths against the file, extents against overflow, ranges
// against each other. A violation throws Error(ExitCode::data) with one line that names file, place and fault.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "io/file.hpp"
#include "tensor/tensor_view.hpp"

namespace maxplus {

struct SafetensorsEntry {
  std::string name;
  std::string dtype;  // as in the file: "F32", "BF16", ...
  std::vector<std::int64_t> extents;
  std::span<const std::byte> data;  // within the mapped file

  std::int64_t elements() const;
  bool readable_as_f32() const;  // F32, F16, BF16 or F64
};

// A file that is open for reading; entries point into its mapping.
class SafetensorsFile {
 public:
  explicit SafetensorsFile(const std::filesystem::path& path);

  const std::string& where() const { return where_; }
  const std::vector<SafetensorsEntry>& entries() const { return entries_; }  // in the order of their data
  const SafetensorsEntry* find(const std::string& name) const;               // null when there is none
  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  // F32, F16, BF16 and F64 (rounded to nearest) as f32. `out` has elements() places. Throws for other types.
  void read_f32(const SafetensorsEntry& entry, std::span<float> out) const;
  const MappedFile& mapping() const { return file_; }

 private:
  std::string where_;
  MappedFile file_;
  std::vector<SafetensorsEntry> entries_;
  std::map<std::string, std::string> metadata_;
};

// Host memory that is to be written. Types: f32, bf16, f64, i32, i64, u8.
struct SafetensorsTensor {
  std::string name;
  TensorView view;
};

// Writes to a temporary file and renames it. Tensors are ordered by falling element size, then by name, and the header
// is padded, so every tensor is aligned to 8 bytes or to its element; equal input gives equal bytes.
void write_safetensors(const std::filesystem::path& path, std::vector<SafetensorsTensor> tensors,
                       const std::map<std::string, std::string>& metadata);

}  // namespace maxplus
