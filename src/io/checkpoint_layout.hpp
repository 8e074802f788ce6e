#pragma once
// What stands where in a checkpoint file, and how it is hashed; shared by writer and reader, nobody else's business.
//
//   /header    u8    JSON: format, iteration, block_elements, tensors [{name, elements}], names of integers and
//   numbers, texts /state     u8    the caller's JSON, unread here /integers  i64   in the order of their names
//   /numbers   f64   in the order of their names
//   /tensors/<name>  f32
//   /hashes    i64   one a block, tensors in the order of the header
//   /seal      i64   [1] hash over header, state, integers, numbers and hashes

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/checkpoint_file.hpp"

namespace maxplus::checkpoint {

inline constexpr std::int64_t kFormat = 1;

std::string header_text(const CheckpointContents& contents, std::int64_t block_elements);
// Without state, integers' and numbers' values. Error(data) for another format or a text that is none of ours.
CheckpointHeader parse_header(const std::string& path, std::string_view text);

std::int64_t blocks_of(std::int64_t elements, std::int64_t block_elements);
std::uint64_t hash_block(const std::string& tensor, std::int64_t block, std::int64_t iteration,
                         std::span<const float> values);

struct SealedBytes {
  std::string_view header, state;
  std::span<const std::int64_t> integers;
  std::span<const double> numbers;
  std::span<const std::uint64_t> hashes;
};
std::uint64_t seal(const SealedBytes& bytes);

std::string tensor_dataset(const std::string& name);  // "tensors/" + name

}  // namespace maxplus::checkpoint
