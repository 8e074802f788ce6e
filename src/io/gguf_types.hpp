#pragma once
// The types that a GGUF file may hold: of values in its metadata, and of tensors with their blocks.
//
// A tensor's row is a sequence of blocks of equal size; plain types are blocks of one element. Types that this program
// does not turn into numbers are listed too, so that a file with them can be checked and shown.

#include <cstdint>
#include <span>
#include <string_view>

namespace maxplus {

enum class GgufKind : std::uint32_t {
  u8 = 0,
  i8 = 1,
  u16 = 2,
  i16 = 3,
  u32 = 4,
  i32 = 5,
  f32 = 6,
  boolean = 7,
  text = 8,
  list = 9,
  u64 = 10,
  i64 = 11,
  f64 = 12,
};
constexpr std::uint32_t kGgufKinds = 13;

// Bytes of a value; 0 for text and list, whose size stands in the file.
std::uint64_t size_of(GgufKind kind);
std::string_view name_of(GgufKind kind);

struct GgufTensorType {
  std::uint32_t number;
  std::string_view name;  // "F32", "Q4_K", ...
  std::int64_t block_elements;
  std::int64_t block_bytes;
};

std::span<const GgufTensorType> gguf_tensor_types();
// Null for a number that no type has.
const GgufTensorType* find_gguf_tensor_type(std::uint32_t number);
const GgufTensorType* find_gguf_tensor_type(std::string_view name);

}  // namespace maxplus
