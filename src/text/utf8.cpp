// Strict UTF-8: the table of well-formed byte sequences of the Unicode standard (3.9, table 3-7), written as code.
#include "text/utf8.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace maxplus {

namespace {

constexpr std::string_view kWhiteSpace = " \t\n\r\f\v";
constexpr std::size_t kQuotedBytes = 60;

std::uint8_t byte_at(std::string_view text, std::size_t i) { return static_cast<std::uint8_t>(text[i]); }

bool is_continuation(std::uint8_t byte) { return (byte & 0xC0) == 0x80; }

// Bytes that a leading byte announces; 0 if it cannot lead.
std::size_t announced_length(std::uint8_t lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return 2;
  if (lead >= 0xE0 && lead <= 0xEF) return 3;
  if (lead >= 0xF0 && lead <= 0xF4) return 4;
  return 0;
}

// The second byte excludes overlong forms, surrogates and what lies beyond U+10FFFF.
bool fits_second(std::uint8_t lead, std::uint8_t second) {
  if (!is_continuation(second)) return false;
  if (lead == 0xE0) return second >= 0xA0;
  if (lead == 0xED) return second <= 0x9F;
  if (lead == 0xF0) return second >= 0x90;
  if (lead == 0xF4) return second <= 0x8F;
  return true;
}

// Bytes of the well-formed code point at i, or 0.
std::size_t length_at(std::string_view text, std::size_t i) {
  const std::uint8_t lead = byte_at(text, i);
  const std::size_t n = announced_length(lead);
  if (n <= 1) return n;
  if (i + n > text.size() || !fits_second(lead, byte_at(text, i + 1))) return 0;
  for (std::size_t k = 2; k < n; ++k) {
    if (!is_continuation(byte_at(text, i + k))) return 0;
  }
  return n;
}

}  // namespace

std::optional<std::size_t> first_invalid_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t n = length_at(text, i);
    if (n == 0) return i;
    i += n;
  }
  return std::nullopt;
}

std::vector<std::string_view> code_points(std::string_view text) {
  std::vector<std::string_view> points;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t n = std::max<std::size_t>(1, length_at(text, i));
    points.push_back(text.substr(i, n));
    i += n;
  }
  return points;
}

std::string in_quotes(std::string_view text) {
  std::string out = "'";
  std::size_t i = 0;
  while (i < text.size() && i < kQuotedBytes) {
    const std::size_t n = length_at(text, i);
    const std::uint8_t byte = byte_at(text, i);
    const bool plain = n > 1 ? !(byte == 0xC2 && byte_at(text, i + 1) < 0xA0) : n == 1 && byte >= 0x20 && byte != 0x7F;
    if (plain) {
      out += text.substr(i, n);
    } else {
      out += fmt::format("\\x{:02X}", byte);
    }
    i += plain ? n : 1;
  }
  out += i < text.size() ? "…'" : "'";
  return out;
}

std::string printable_bytes(std::string_view bytes) {
  std::string out;
  for (std::size_t i = 0; i < bytes.size();) {
    const std::size_t n = length_at(bytes, i);
    if (n == 0) {
      out += fmt::format("<0x{:02X}>", byte_at(bytes, i));
      i += 1;
    } else {
      out += bytes.substr(i, n);
      i += n;
    }
  }
  return out;
}

std::string lossy_utf8(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  for (std::size_t i = 0; i < bytes.size();) {
    const std::size_t n = length_at(bytes, i);
    if (n > 0) {
      out += bytes.substr(i, n);
      i += n;
      continue;
    }
    out += "\xEF\xBF\xBD";
    const std::uint8_t lead = byte_at(bytes, i);
    const std::size_t announced = announced_length(lead);
    std::size_t part = 1;
    if (announced > 1 && i + 1 < bytes.size() && fits_second(lead, byte_at(bytes, i + 1))) {
      for (part = 2; part < announced && i + part < bytes.size() && is_continuation(byte_at(bytes, i + part));) ++part;
    }
    i += part;
  }
  return out;
}

std::string_view complete_prefix(std::string_view bytes) {
  // Only the last three bytes can belong to a code point that is not there yet.
  for (std::size_t back = 1; back <= 3 && back <= bytes.size(); ++back) {
    const std::size_t at = bytes.size() - back;
    if (is_continuation(byte_at(bytes, at))) continue;
    return announced_length(byte_at(bytes, at)) > back ? bytes.substr(0, at) : bytes;
  }
  return bytes;
}

std::vector<std::string_view> split_words(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t begin = text.find_first_not_of(kWhiteSpace); begin != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(kWhiteSpace, begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = text.find_first_not_of(kWhiteSpace, end);
  }
  return words;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kWhiteSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kWhiteSpace) - begin + 1);
}

}  // namespace maxplus
