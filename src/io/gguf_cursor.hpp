#pragma once
// Steps through the header of a GGUF file. For gguf*.cpp only.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "io/gguf_types.hpp"

namespace maxplus {

static_assert(std::endian::native == std::endian::little, "numbers are read as they lie in the file");

template <class T>
T load_value(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

// The string that begins with its length at `from`; its bounds have been checked.
inline std::string_view gguf_text_at(const std::byte* from) {
  return {reinterpret_cast<const char*>(from + 8), load_value<std::uint64_t>(from)};
}

// Names and keys are plain ASCII in every published file; for a message others are cut and masked.
inline std::string shown_gguf_name(std::string_view name) {
  std::string text(name.substr(0, 80));
  for (char& c : text) {
    if (c < 0x20 || c > 0x7e) c = '?';
  }
  return name.size() > 80 ? text + "..." : text;
}

// Reads on from a place; every step is checked against the end of the file first.
class GgufCursor {
 public:
  GgufCursor(std::span<const std::byte> bytes, std::uint64_t place, const std::string& where)
      : bytes_(bytes), place_(place), where_(where) {}

  std::uint64_t place() const { return place_; }
  std::uint64_t left() const { return bytes_.size() - place_; }
  void name(std::string what) { what_ = std::move(what); }  // the key or tensor that is being read

  [[noreturn]] void refuse(const std::string& found, const std::string& expected) const {
    throw Error(ExitCode::data,
                Fault{where_, fmt::format("at byte {}: {}{}{}", place_, what_, what_.empty() ? "" : ": ", found),
                      expected, "fetch or export the file again"});
  }
  const std::byte* take(std::uint64_t count, const char* what) {
    if (count > left()) {
      refuse(fmt::format("the file ends inside {}", what), fmt::format("{} bytes, where {} are left", count, left()));
    }
    const std::byte* from = bytes_.data() + place_;
    place_ += count;
    return from;
  }
  template <class T>
  T read(const char* what) {
    return load_value<T>(take(sizeof(T), what));
  }
  std::string_view read_text(const char* what, std::uint64_t longest) {
    const auto length = read<std::uint64_t>(what);
    if (length > left()) {
      refuse(fmt::format("the length {} of {} is more than the file holds", length, what),
             fmt::format("at most {} bytes", left()));
    }
    if (length > longest) refuse(fmt::format("{} has {} bytes", what, length), fmt::format("at most {}", longest));
    return {reinterpret_cast<const char*>(take(length, what)), length};
  }
  GgufKind read_kind(const char* what) {
    const auto number = read<std::uint32_t>(what);
    if (number >= kGgufKinds) refuse(fmt::format("{} {} is unknown", what, number), "a value type from 0 to 12");
    return static_cast<GgufKind>(number);
  }
  // Moves behind `count` values of a kind that is no list.
  void skip_values(GgufKind kind, std::uint64_t count) {
    if (kind == GgufKind::text) {
      if (count > left() / 8)
        refuse(fmt::format("{} strings are more than the file holds", count), fmt::format("at most {}", left() / 8));
      for (std::uint64_t i = 0; i < count; ++i) read_text("a string", left());
      return;
    }
    const std::uint64_t bytes = size_of(kind);
    if (count > left() / bytes) {
      refuse(fmt::format("{} values of {} bytes are more than the file holds", count, bytes),
             fmt::format("at most {}", left() / bytes));
    }
    const std::byte* from = take(count * bytes, "a value");
    if (kind != GgufKind::boolean) return;
    for (std::uint64_t i = 0; i < count; ++i) {
      if (std::to_integer<int>(from[i]) > 1)
        refuse(fmt::format("a bool is the byte {}", std::to_integer<int>(from[i])), "0 or 1");
    }
  }

 private:
  std::span<const std::byte> bytes_;
  std::uint64_t place_;
  const std::string& where_;
  std::string what_;
};

}  // namespace maxplus
