// Reading checks the ranges of the header against the file; writing lays the tensors out in one fixed order.
#include "io/safetensors.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "io/half.hpp"
#include "io/safetensors_header.hpp"

namespace maxplus {

namespace {

constexpr std::uint64_t kLongestHeader = 100'000'000;
constexpr std::size_t kLengthBytes = 8;

struct FileType {
  std::string_view name;
  std::uint64_t bytes;
};
constexpr std::array<FileType, 15> kFileTypes{{{"F64", 8},
                                               {"F32", 4},
                                               {"F16", 2},
                                               {"BF16", 2},
                                               {"I64", 8},
                                               {"I32", 4},
                                               {"I16", 2},
                                               {"I8", 1},
                                               {"U64", 8},
                                               {"U32", 4},
                                               {"U16", 2},
                                               {"U8", 1},
                                               {"BOOL", 1},
                                               {"F8_E4M3", 1},
                                               {"F8_E5M2", 1}}};

[[noreturn]] void refuse(const std::string& where, const std::string& found, const std::string& expected) {
  throw Error(ExitCode::data, Fault{where, found, expected, "fetch or export the file again"});
}

std::uint64_t little_endian_length(std::span<const std::byte> bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < kLengthBytes; ++i) value |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * i);
  return value;
}

// The header's text, after the checks of its length.
std::string_view header_text(const MappedFile& file, const std::string& where) {
  const std::uint64_t size = file.bytes().size();
  if (size < kLengthBytes) {
    refuse(where, fmt::format("the file has {} bytes and ends inside the header length", size),
           "8 bytes of header length");
  }
  const std::uint64_t length = little_endian_length(file.bytes());
  if (length > kLongestHeader) {
    refuse(where, fmt::format("header length {} is too large", length),
           fmt::format("at most {} bytes", kLongestHeader));
  }
  if (length > size - kLengthBytes) {
    refuse(where, fmt::format("header length {} is more than the file holds", length),
           fmt::format("at most {} bytes in this file", size - kLengthBytes));
  }
  const std::string_view text = file.text().substr(kLengthBytes, length);
  if (text.empty() || text.front() != '{') refuse(where, "the header does not begin with '{'", "a JSON object");
  return text;
}

// Checks one entry alone; its bytes lie in a buffer of `buffer` bytes.
void check_entry(const SafetensorsHeader::Entry& entry, std::uint64_t buffer, const std::string& where) {
  const std::string place = fmt::format("header: tensor '{}': ", shown_name(entry.name));
  const auto* type =
      std::find_if(kFileTypes.begin(), kFileTypes.end(), [&](const FileType& t) { return t.name == entry.dtype; });
  if (type == kFileTypes.end())
    refuse(where, place + fmt::format("dtype '{}' is unknown", shown_name(entry.dtype)), "F32, BF16, F16, ...");
  if (entry.offsets.size() != 2) {
    refuse(where, place + fmt::format("data_offsets has {} numbers", entry.offsets.size()), "two: begin and end");
  }
  const std::uint64_t begin = entry.offsets[0], end = entry.offsets[1];
  if (begin > end)
    refuse(where, place + fmt::format("data_offsets begin {} lies after end {}", begin, end), "begin <= end");
  if (end > buffer) {
    refuse(where, place + fmt::format("data_offsets end {} lies past the end of the data", end),
           fmt::format("at most {} in this file", buffer));
  }
  std::uint64_t bytes = type->bytes;
  bool overflow = false, zero = false;
  for (std::uint64_t extent : entry.shape) {
    zero = zero || extent == 0;
    overflow =
        overflow || extent > static_cast<std::uint64_t>(INT64_MAX) || __builtin_mul_overflow(bytes, extent, &bytes);
  }
  if (zero) bytes = 0;
  if (overflow)
    refuse(where, place + "the product of the shape's extents overflows 64 bits", "a shape that fits its bytes");
  if (bytes != end - begin) {
    refuse(where, place + fmt::format("the shape needs {} bytes, data_offsets give {}", bytes, end - begin),
           "equal numbers");
  }
}

// Entries sorted by their data must cover the buffer without hole or overlap.
void check_cover(const std::deque<SafetensorsHeader::Entry>& sorted, std::uint64_t buffer, const std::string& where) {
  std::uint64_t covered = 0;
  for (const SafetensorsHeader::Entry& entry : sorted) {
    if (entry.offsets[0] != covered) {
      refuse(where,
             fmt::format("header: tensor '{}': data_offsets begin at {}, {}", shown_name(entry.name), entry.offsets[0],
                         entry.offsets[0] < covered ? "inside another tensor" : "behind a hole"),
             fmt::format("{}, where the tensor before it ends", covered));
    }
    covered = entry.offsets[1];
  }
  if (covered != buffer) {
    refuse(where, fmt::format("{} bytes follow the last tensor", buffer - covered), "no bytes after the last tensor");
  }
}

// Piece by piece, so that little memory is used beside `out`.
template <class T, class Convert>
void read_converted(const MappedFile& file, std::span<const std::byte> data, std::span<float> out, Convert convert) {
  constexpr std::size_t kReadPiece = std::size_t{1} << 17;  // elements
  std::vector<T> piece(std::min(kReadPiece, out.size()));
  for (std::size_t at = 0; at < out.size(); at += kReadPiece) {
    const std::size_t count = std::min(kReadPiece, out.size() - at);
    file.read(data.subspan(at * sizeof(T), count * sizeof(T)), piece.data());
    for (std::size_t i = 0; i < count; ++i) out[at + i] = convert(piece[i]);
  }
}

std::string_view file_type_of(DType type) {
  switch (type) {
    case DType::f32: return "F32";
    case DType::bf16: return "BF16";
    case DType::f64: return "F64";
    case DType::i32: return "I32";
    case DType::i64: return "I64";
    case DType::u8: return "U8";
  }
  return "?";
}

}  // namespace

std::int64_t SafetensorsEntry::elements() const {
  std::int64_t product = 1;
  for (std::int64_t extent : extents) product *= extent;
  return product;
}

bool SafetensorsEntry::readable_as_f32() const {
  return dtype == "F32" || dtype == "F16" || dtype == "BF16" || dtype == "F64";
}

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path) : where_(path.string()), file_(path) {
  const std::string_view text = header_text(file_, where_);
  SafetensorsHeader header = parse_safetensors_header(text, where_);
  const std::span<const std::byte> buffer = file_.bytes().subspan(kLengthBytes + text.size());
  for (const SafetensorsHeader::Entry& entry : header.entries) check_entry(entry, buffer.size(), where_);
  std::stable_sort(header.entries.begin(), header.entries.end(), [](const auto& a, const auto& b) {
    return std::pair(a.offsets[0], a.offsets[1]) < std::pair(b.offsets[0], b.offsets[1]);
  });
  check_cover(header.entries, buffer.size(), where_);
  entries_.reserve(header.entries.size());
  for (SafetensorsHeader::Entry& entry : header.entries) {
    SafetensorsEntry& out = entries_.emplace_back();
    out.name = std::move(entry.name);
    out.dtype = std::move(entry.dtype);
    out.extents.assign(entry.shape.begin(), entry.shape.end());
    out.data = buffer.subspan(entry.offsets[0], entry.offsets[1] - entry.offsets[0]);
  }
  metadata_ = std::move(header.metadata);
}

const SafetensorsEntry* SafetensorsFile::find(const std::string& name) const {
  const auto found =
      std::find_if(entries_.begin(), entries_.end(), [&](const SafetensorsEntry& e) { return e.name == name; });
  return found == entries_.end() ? nullptr : &*found;
}

void SafetensorsFile::read_f32(const SafetensorsEntry& entry, std::span<float> out) const {
  MAXPLUS_REQUIRE(static_cast<std::int64_t>(out.size()) == entry.elements(), "one place an element");
  if (entry.dtype == "F32") {
    file_.read(entry.data, out.data());
  } else if (entry.dtype == "F64") {
    read_converted<double>(file_, entry.data, out, [](double value) { return static_cast<float>(value); });
  } else if (entry.dtype == "F16") {
    read_converted<std::uint16_t>(file_, entry.data, out, float_of_f16);
  } else if (entry.dtype == "BF16") {
    read_converted<std::uint16_t>(file_, entry.data, out, float_of_bf16);
  } else {
    throw Error(ExitCode::data,
                Fault{where_, fmt::format("tensor '{}' has dtype {}", shown_name(entry.name), entry.dtype),
                      "F32, F16, BF16 or F64", "convert the file to one of these types"});
  }
}

void write_safetensors(const std::filesystem::path& path, std::vector<SafetensorsTensor> tensors,
                       const std::map<std::string, std::string>& metadata) {
  std::sort(tensors.begin(), tensors.end(), [](const SafetensorsTensor& a, const SafetensorsTensor& b) {
    const std::size_t size_a = size_of(a.view.dtype()), size_b = size_of(b.view.dtype());
    return size_a != size_b ? size_a > size_b : a.name < b.name;
  });
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  std::uint64_t offset = 0;
  for (const SafetensorsTensor& tensor : tensors) {
    MAXPLUS_REQUIRE(!header.contains(tensor.name), fmt::format("tensor '{}' is written twice", tensor.name));
    MAXPLUS_REQUIRE(tensor.view.space() == Space::host, "files are written from host memory");
    const std::uint64_t end = offset + tensor.view.bytes();
    const auto extents = tensor.view.extents();
    header[tensor.name] = {{"dtype", file_type_of(tensor.view.dtype())},
                           {"shape", std::vector<std::int64_t>(extents.begin(), extents.end())},
                           {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = header.dump();
  text.append((kLengthBytes - text.size() % kLengthBytes) % kLengthBytes, ' ');
  std::array<unsigned char, kLengthBytes> length;
  for (std::size_t i = 0; i < kLengthBytes; ++i) length[i] = static_cast<unsigned char>(text.size() >> (8 * i));

  AtomicFile file(path);
  file.write(length.data(), length.size());
  file.write(text.data(), text.size());
  for (const SafetensorsTensor& tensor : tensors) file.write(tensor.view.data(), tensor.view.bytes());
  file.commit();
}

}  // namespace maxplus
