#pragma once
// UTF-8 as it comes from outside: strict validation (RFC 3629), walking by code points, and quoting for messages.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace maxplus {

// Offset of the first byte that is not part of valid UTF-8 (lone continuation, overlong form, surrogate half, beyond
// U+10FFFF, cut sequence); nothing if all is valid.
std::optional<std::size_t> first_invalid_utf8(std::string_view text);

// The code points as substrings. Precondition: valid UTF-8.
std::vector<std::string_view> code_points(std::string_view text);

// In single quotes, control characters and invalid bytes as \xNN, cut after about 60 bytes: fit for one line of a
// terminal.
std::string in_quotes(std::string_view text);

// The bytes of a token as text: what is not valid UTF-8 is written as <0xNN>.
std::string printable_bytes(std::string_view bytes);

// Valid UTF-8: each maximal part of a code point that is not whole, and each byte that can be in none, becomes U+FFFD
// (Unicode Standard 3.9).
std::string lossy_utf8(std::string_view bytes);

// Text to be shown while it grows: the longest prefix that ends with a whole code point. The rest is pending: it may
// become one with the next token's bytes.
std::string_view complete_prefix(std::string_view bytes);

// The words between white space (blank, tab, line feed, carriage return, form feed, vertical tab).
std::vector<std::string_view> split_words(std::string_view text);

// Without white space at either end.
std::string_view trimmed(std::string_view text);

}  // namespace maxplus
