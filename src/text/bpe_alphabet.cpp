// GPT-2's alphabet of bytes and the splitting expressions of published tokenizers.
#include <array>

#include "text/bpe_description.hpp"

namespace maxplus {

const char* const kGpt2Expression = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
const char* const kLlama3Expression =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|)"
    R"(\s*[\r\n]+|\s+(?!\S)|\s+)";
const char* const kQwen2Expression =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|)"
    R"(\s*[\r\n]+|\s+(?!\S)|\s+)";
const char* const kGpt4oExpression =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
    R"(\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
const char* const kTekkenExpression = R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|)"
                                      R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|)"
                                      R"(\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
const char* const kDigitsExpression = R"(\p{N})";

std::vector<SplitStep> deepseek_v3_splits() {
  return {
      {R"(\p{N}{1,3})", SplitGaps::keep},
      {R"([\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+)", SplitGaps::keep},
      {R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+|)"
       R"( ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
       SplitGaps::keep},
  };
}

namespace {

constexpr char32_t kFirstStandIn = 0x100;  // bytes that are not printable as Latin-1 take the code points from here

bool is_printable_byte(char32_t byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

struct ByteAlphabet {
  std::vector<std::string> character;  // of a byte
  std::array<std::int16_t, 512> byte;  // of a code point; -1: none

  ByteAlphabet() {
    byte.fill(-1);
    char32_t stand_in = kFirstStandIn;
    for (char32_t b = 0; b < 256; ++b) {
      const char32_t code = is_printable_byte(b) ? b : stand_in++;
      byte[code] = static_cast<std::int16_t>(b);
      std::string text;
      append_utf8(code, text);
      character.push_back(std::move(text));
    }
  }
};

const ByteAlphabet& alphabet() {
  static const ByteAlphabet table;
  return table;
}

}  // namespace

const std::vector<std::string>& byte_alphabet() { return alphabet().character; }

std::optional<std::string> bytes_of_alphabet(std::string_view text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size();) {
    const CodePoint point = code_point_at(text, i);
    if (point.code >= alphabet().byte.size() || alphabet().byte[point.code] < 0) return std::nullopt;
    bytes += static_cast<char>(static_cast<unsigned char>(alphabet().byte[point.code]));
    i += point.length;
  }
  return bytes;
}

}  // namespace maxplus
