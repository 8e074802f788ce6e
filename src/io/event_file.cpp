#include "io/event_file.hpp"

#include <array>
#include <bit>
#include <type_traits>

namespace maxplus {

namespace {

constexpr std::array<std::uint32_t, 256> castagnoli_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t rest = i;
    for (int bit = 0; bit < 8; ++bit) rest = (rest >> 1) ^ ((rest & 1) != 0 ? 0x82F63B78u : 0u);
    table[i] = rest;
  }
  return table;
}

template <class Bits>
void append_bits(std::string& bytes, Bits bits) {
  static_assert(std::is_unsigned_v<Bits>);
  for (std::size_t i = 0; i < sizeof(Bits); ++i) bytes += static_cast<char>((bits >> (8 * i)) & 0xff);
}

void append_varint(std::string& bytes, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>((value & 0x7f) | 0x80);
  bytes += static_cast<char>(value);
}

enum class WireType : std::uint8_t { varint = 0, bits64 = 1, length = 2, bits32 = 5 };

void append_key(std::string& bytes, int field, WireType type) {
  append_varint(bytes, static_cast<std::uint64_t>(field) << 3 | static_cast<std::uint64_t>(type));
}

void append_field(std::string& bytes, int field, std::string_view text) {
  append_key(bytes, field, WireType::length);
  append_varint(bytes, text.size());
  bytes += text;
}

std::string event_at(double wall_time) {
  std::string event;
  append_key(event, 1, WireType::bits64);
  append_bits(event, std::bit_cast<std::uint64_t>(wall_time));
  return event;
}

}  // namespace

std::uint32_t crc32c(std::string_view bytes) {
  static constexpr std::array<std::uint32_t, 256> kTable = castagnoli_table();
  std::uint32_t crc = ~0u;
  for (const char c : bytes) crc = (crc >> 8) ^ kTable[(crc ^ static_cast<unsigned char>(c)) & 0xff];
  return ~crc;
}

std::uint32_t masked_crc32c(std::string_view bytes) { return std::rotr(crc32c(bytes), 15) + 0xa282ead8u; }

EventFile::EventFile(const std::filesystem::path& path, double wall_time) : file_(path) {
  std::string event = event_at(wall_time);
  append_field(event, 3, "brain.Event:2");
  write_record(event);
}

void EventFile::add(double wall_time, std::int64_t step, std::span<const Scalar> scalars) {
  std::string summary;
  for (const Scalar& scalar : scalars) {
    std::string value;
    append_field(value, 1, scalar.tag);
    append_key(value, 2, WireType::bits32);
    append_bits(value, std::bit_cast<std::uint32_t>(scalar.value));
    append_field(summary, 1, value);
  }
  std::string event = event_at(wall_time);
  append_key(event, 2, WireType::varint);
  append_varint(event, static_cast<std::uint64_t>(step));
  append_field(event, 5, summary);
  write_record(event);
}

void EventFile::write_record(std::string_view bytes) {
  std::string record;
  append_bits(record, static_cast<std::uint64_t>(bytes.size()));
  append_bits(record, masked_crc32c(record));
  record += bytes;
  append_bits(record, masked_crc32c(bytes));
  file_.write(record.data(), record.size());
}

}  // namespace maxplus
