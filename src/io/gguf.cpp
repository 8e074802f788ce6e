// Opening walks the whole header once and keeps the place of each entry; looking one up reads it again.
#include "io/gguf.hpp"

#include <algorithm>
#include <bit>
#include <fstream>
#include <numeric>

#include <fmt/format.h>

#include "base/error.hpp"
#include "io/gguf_cursor.hpp"

namespace maxplus {

namespace {

constexpr std::string_view kMagic = "GGUF";
constexpr std::uint64_t kLongestKey = 65535, kLongestTensorName = 64;
constexpr std::uint64_t kLeastKeyBytes = 8 + 1 + 4 + 1;             // length, a letter, type, a byte of value
constexpr std::uint64_t kLeastTensorBytes = 8 + 1 + 4 + 8 + 4 + 8;  // length, a letter, rank, extent, type, offset
constexpr std::uint64_t kMostEntries = std::uint64_t{1} << 31;
constexpr std::uint32_t kMostDimensions = 4;
constexpr std::int64_t kMostAlignment = std::int64_t{1} << 30;

bool is_plain(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) { return c >= 0x20 && c <= 0x7e; });
}

}  // namespace

GgufFile::GgufFile(const std::filesystem::path& path) : where_(path.string()), file_(path) {
  GgufCursor cursor(file_.bytes(), 0, where_);
  cursor.name("header");
  if (file_.text().substr(0, 4) != kMagic)
    cursor.refuse("the file does not begin with 'GGUF'", "a little-endian GGUF file");
  cursor.take(4, "the magic");
  version_ = cursor.read<std::uint32_t>("the version");
  if (version_ != 2 && version_ != 3)
    cursor.refuse(fmt::format("version {} is not supported", version_), "version 2 or 3");
  const auto tensor_count = cursor.read<std::uint64_t>("the tensor count");
  const auto key_count = cursor.read<std::uint64_t>("the key count");
  if (tensor_count > std::min(kMostEntries, cursor.left() / kLeastTensorBytes)) {
    cursor.refuse(fmt::format("tensor count {} is more than the file holds", tensor_count),
                  fmt::format("at most {}", cursor.left() / kLeastTensorBytes));
  }
  if (key_count > std::min(kMostEntries, cursor.left() / kLeastKeyBytes)) {
    cursor.refuse(fmt::format("key count {} is more than the file holds", key_count),
                  fmt::format("at most {}", cursor.left() / kLeastKeyBytes));
  }
  read_keys(cursor, key_count);
  read_alignment();
  read_tensors(cursor, tensor_count);
  check_tensors();
}

void GgufFile::read_keys(GgufCursor& cursor, std::uint64_t count) {
  keys_.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    keys_.push_back(cursor.place());
    cursor.name(fmt::format("key {} of {}", i, count));
    const std::string_view key = cursor.read_text("the key", kLongestKey);
    if (!is_plain(key))
      cursor.refuse(fmt::format("its name '{}' is not plain text", shown_gguf_name(key)), "printable ASCII");
    cursor.name(fmt::format("key '{}'", shown_gguf_name(key)));
    const GgufKind kind = cursor.read_kind("value type");
    if (kind != GgufKind::list) {
      cursor.skip_values(kind, 1);
      continue;
    }
    const GgufKind element = cursor.read_kind("element type");
    if (element == GgufKind::list) cursor.refuse("a list of lists", "a list of plain values");
    cursor.skip_values(element, cursor.read<std::uint64_t>("the length of a list"));
  }
  keys_sorted_.resize(keys_.size());
  std::iota(keys_sorted_.begin(), keys_sorted_.end(), 0u);
  std::sort(keys_sorted_.begin(), keys_sorted_.end(),
            [&](std::uint32_t a, std::uint32_t b) { return std::pair(key(a), a) < std::pair(key(b), b); });
  check_key_names();
}

void GgufFile::check_key_names() const {
  for (std::size_t i = 1; i < keys_sorted_.size(); ++i) {
    if (key(keys_sorted_[i]) != key(keys_sorted_[i - 1])) continue;
    GgufCursor cursor(file_.bytes(), keys_[keys_sorted_[i]], where_);
    cursor.refuse(fmt::format("key '{}' stands twice", shown_gguf_name(key(keys_sorted_[i]))), "each key once");
  }
}

void GgufFile::read_tensors(GgufCursor& cursor, std::uint64_t count) {
  tensors_.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    tensors_.push_back(cursor.place());
    cursor.name(fmt::format("tensor {} of {}", i, count));
    const std::string_view name = cursor.read_text("the name", kLongestTensorName);
    if (!is_plain(name))
      cursor.refuse(fmt::format("its name '{}' is not plain text", shown_gguf_name(name)), "printable ASCII");
    cursor.name(fmt::format("tensor '{}'", shown_gguf_name(name)));
    const auto rank = cursor.read<std::uint32_t>("the number of dimensions");
    if (rank < 1 || rank > kMostDimensions) cursor.refuse(fmt::format("{} dimensions", rank), "1 to 4");
    std::int64_t elements = 1, row = 0;
    for (std::uint32_t d = 0; d < rank; ++d) {
      const auto extent = cursor.read<std::uint64_t>("an extent");
      if (extent == 0) cursor.refuse("an extent is 0", "extents of at least 1");
      if (extent > static_cast<std::uint64_t>(INT64_MAX) ||
          __builtin_mul_overflow(elements, static_cast<std::int64_t>(extent), &elements))
        cursor.refuse("the product of the extents overflows 64 bits", "extents that fit the file");
      if (d == 0) row = static_cast<std::int64_t>(extent);
    }
    const auto number = cursor.read<std::uint32_t>("the tensor type");
    const GgufTensorType* type = find_gguf_tensor_type(number);
    if (type == nullptr) cursor.refuse(fmt::format("tensor type {} is unknown", number), "a type of the GGUF format");
    if (row % type->block_elements != 0) {
      cursor.refuse(fmt::format("rows of {} elements are not whole blocks of {}", row, type->name),
                    fmt::format("a multiple of {}", type->block_elements));
    }
    if (elements / type->block_elements > INT64_MAX / type->block_bytes)
      cursor.refuse("its size in bytes overflows 64 bits", "extents that fit the file");
    cursor.read<std::uint64_t>("the offset");
  }
  data_begin_ = (cursor.place() + alignment_ - 1) / alignment_ * alignment_;
}

void GgufFile::read_alignment() {
  const std::optional<std::int64_t> alignment = whole("general.alignment");
  if (!alignment) return;
  if (*alignment < 1 || *alignment > kMostAlignment || !std::has_single_bit(static_cast<std::uint64_t>(*alignment))) {
    throw Error(ExitCode::data, Fault{where_, fmt::format("key 'general.alignment' is {}", *alignment),
                                      "a power of two", "fetch or export the file again"});
  }
  alignment_ = static_cast<std::uint64_t>(*alignment);
}

void GgufFile::refuse_tensor(std::size_t i, const std::string& found, const std::string& expected) const {
  GgufCursor cursor(file_.bytes(), tensors_[i], where_);
  cursor.name(fmt::format("tensor '{}'", shown_gguf_name(tensor_name(i))));
  cursor.refuse(found, expected);
}

// The range of each tensor, then ranges and names against each other. Sorts by name.
void GgufFile::check_tensors() {
  const std::uint64_t size = file_.bytes().size(), held = size > data_begin_ ? size - data_begin_ : 0;
  tensors_sorted_.resize(tensors_.size());
  std::iota(tensors_sorted_.begin(), tensors_sorted_.end(), 0u);
  for (const std::uint32_t i : tensors_sorted_) {
    const auto [tensor, offset, bytes] = entry(i);
    if (offset % alignment_ != 0)
      refuse_tensor(i, fmt::format("offset {} is not aligned", offset), fmt::format("a multiple of {}", alignment_));
    if (offset > held || bytes > held - offset) {
      refuse_tensor(i, fmt::format("offset {} and size {} lie past the end of the data", offset, bytes),
                    fmt::format("at most {} bytes of data in this file", held));
    }
  }
  auto& sorted = tensors_sorted_;
  std::sort(sorted.begin(), sorted.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(entry(a).offset, a) < std::pair(entry(b).offset, b);
  });
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    const Entry before = entry(sorted[i - 1]);
    if (entry(sorted[i]).offset < before.offset + before.bytes) {
      refuse_tensor(sorted[i], fmt::format("its data overlap those of '{}'", before.tensor.name),
                    fmt::format("an offset from {}", before.offset + before.bytes));
    }
  }
  std::sort(sorted.begin(), sorted.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(tensor_name(a), a) < std::pair(tensor_name(b), b);
  });
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    if (tensor_name(sorted[i]) == tensor_name(sorted[i - 1]))
      refuse_tensor(sorted[i], "the name stands twice", "each tensor once");
  }
}

bool has_gguf_magic(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  char head[4] = {};
  file.read(head, sizeof head);
  return file && std::string_view(head, sizeof head) == kMagic;
}

}  // namespace maxplus
