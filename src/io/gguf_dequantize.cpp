// One function a block type. Notation: d scale, m minimum, q the stored integers, sc the 16 or 8 inner scales of a
// K-block.
#include "io/gguf_dequantize.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"
#include "io/half.hpp"

namespace maxplus {

namespace {

using Byte = unsigned char;

float half_at(const Byte* from) {
  std::uint16_t bits;
  std::memcpy(&bits, from, sizeof bits);
  return float_of_f16(bits);
}

int low(Byte b) { return b & 15; }
int high(Byte b) { return b >> 4; }
int signed_byte(Byte b) { return b < 128 ? b : b - 256; }

void from_f32(const Byte* block, float* out) { std::memcpy(out, block, sizeof(float)); }
void from_f16(const Byte* block, float* out) { *out = half_at(block); }
void from_bf16(const Byte* block, float* out) {
  std::uint16_t bits;
  std::memcpy(&bits, block, sizeof bits);
  *out = float_of_bf16(bits);
}

void from_q8_0(const Byte* block, float* out) {  // d, 32 signed q
  const float d = half_at(block);
  for (int i = 0; i < 32; ++i) out[i] = d * static_cast<float>(signed_byte(block[2 + i]));
}

void from_q4_0(const Byte* block, float* out) {  // d, 16 pairs of q
  const float d = half_at(block);
  for (int i = 0; i < 16; ++i) {
    out[i] = d * static_cast<float>(low(block[2 + i]) - 8);
    out[i + 16] = d * static_cast<float>(high(block[2 + i]) - 8);
  }
}

void from_q4_1(const Byte* block, float* out) {  // d, m, 16 pairs of q
  const float d = half_at(block), m = half_at(block + 2);
  for (int i = 0; i < 16; ++i) {
    out[i] = d * static_cast<float>(low(block[4 + i])) + m;
    out[i + 16] = d * static_cast<float>(high(block[4 + i])) + m;
  }
}

// The fifth bit of element i of 32.
int fifth_bit(const Byte* bits, int i) { return ((bits[i / 8] >> (i % 8)) & 1) << 4; }

void from_q5_0(const Byte* block, float* out) {  // d, 32 fifth bits, 16 pairs of q
  const float d = half_at(block);
  for (int i = 0; i < 16; ++i) {
    out[i] = d * static_cast<float>((low(block[6 + i]) | fifth_bit(block + 2, i)) - 16);
    out[i + 16] = d * static_cast<float>((high(block[6 + i]) | fifth_bit(block + 2, i + 16)) - 16);
  }
}

void from_q5_1(const Byte* block, float* out) {  // d, m, 32 fifth bits, 16 pairs of q
  const float d = half_at(block), m = half_at(block + 2);
  for (int i = 0; i < 16; ++i) {
    out[i] = d * static_cast<float>(low(block[8 + i]) | fifth_bit(block + 4, i)) + m;
    out[i + 16] = d * static_cast<float>(high(block[8 + i]) | fifth_bit(block + 4, i + 16)) + m;
  }
}

// In the K-blocks two bits of 128 elements share 32 bytes: element i of such a half lies in byte i % 32, pair i / 32.
int two_bits(const Byte* q, int i) { return (q[i % 32] >> (2 * (i / 32))) & 3; }

void from_q2_k(const Byte* block, float* out) {  // 16 pairs (scale, minimum), 256 q of two bits, d, m
  const Byte* q = block + 16;
  const float d = half_at(block + 80), m = half_at(block + 82);
  for (int i = 0; i < 256; ++i) {
    const Byte scales = block[i / 16];
    const float scale = d * static_cast<float>(low(scales)), minimum = m * static_cast<float>(high(scales));
    out[i] = scale * static_cast<float>(two_bits(q + i / 128 * 32, i % 128)) - minimum;
  }
}

void from_q3_k(const Byte* block, float* out) {  // 256 third bits, 256 q of two bits, 16 scales of six bits, d
  const Byte *third = block, *q = block + 32, *packed = block + 96;
  const float d = half_at(block + 108);
  std::array<float, 16> scale;
  for (int j = 0; j < 16; ++j) {
    const int lower = j < 8 ? low(packed[j]) : high(packed[j - 8]);
    const int upper = (packed[8 + j % 4] >> (2 * (j / 4))) & 3;
    scale[static_cast<std::size_t>(j)] = d * static_cast<float>((lower | (upper << 4)) - 32);
  }
  for (int i = 0; i < 256; ++i) {
    const int set = (third[i % 32] >> (i / 32)) & 1;
    const int value = two_bits(q + i / 128 * 32, i % 128) - (set ? 0 : 4);
    out[i] = scale[static_cast<std::size_t>(i / 16)] * static_cast<float>(value);
  }
}

struct ScaleAndMinimum {
  float scale, minimum;
};

// Part j of 8 of a Q4_K or Q5_K block: d, m, then 8 scales and 8 minima of six bits in 12 bytes.
ScaleAndMinimum part_of_k_block(const Byte* block, int j) {
  const Byte* packed = block + 4;
  const int scale = j < 4 ? packed[j] & 63 : low(packed[j + 4]) | ((packed[j - 4] >> 6) << 4);
  const int minimum = j < 4 ? packed[j + 4] & 63 : high(packed[j + 4]) | ((packed[j] >> 6) << 4);
  return {half_at(block) * static_cast<float>(scale), half_at(block + 2) * static_cast<float>(minimum)};
}

void from_q4_k(const Byte* block, float* out) {  // parts' scales, then 128 pairs of q
  for (int j = 0; j < 8; ++j) {
    const ScaleAndMinimum part = part_of_k_block(block, j);
    const Byte* q = block + 16 + j / 2 * 32;
    for (int i = 0; i < 32; ++i)
      out[j * 32 + i] = part.scale * static_cast<float>(j % 2 == 0 ? low(q[i]) : high(q[i])) - part.minimum;
  }
}

void from_q5_k(const Byte* block, float* out) {  // parts' scales, 256 fifth bits, 128 pairs of q
  for (int j = 0; j < 8; ++j) {
    const ScaleAndMinimum part = part_of_k_block(block, j);
    const Byte *fifth = block + 16, *q = block + 48 + j / 2 * 32;
    for (int i = 0; i < 32; ++i) {
      const int value = (j % 2 == 0 ? low(q[i]) : high(q[i])) | (((fifth[i] >> j) & 1) << 4);
      out[j * 32 + i] = part.scale * static_cast<float>(value) - part.minimum;
    }
  }
}

void from_q6_k(const Byte* block, float* out) {  // 128 pairs of lower four bits, 256 upper two, 16 signed scales, d
  const float d = half_at(block + 208);
  for (int i = 0; i < 256; ++i) {
    const int half = i / 128, within = i % 128;
    const Byte four = block[half * 64 + within % 64];
    const int lower = within < 64 ? low(four) : high(four);
    const int value = (lower | (two_bits(block + 128 + half * 32, within) << 4)) - 32;
    out[i] = d * static_cast<float>(signed_byte(block[192 + i / 16])) * static_cast<float>(value);
  }
}

struct Reading {
  std::string_view name;
  void (*block)(const Byte* block, float* out);
};
constexpr std::array<Reading, 13> kReadings{{{"F32", from_f32},
                                             {"F16", from_f16},
                                             {"BF16", from_bf16},
                                             {"Q8_0", from_q8_0},
                                             {"Q4_0", from_q4_0},
                                             {"Q4_1", from_q4_1},
                                             {"Q5_0", from_q5_0},
                                             {"Q5_1", from_q5_1},
                                             {"Q2_K", from_q2_k},
                                             {"Q3_K", from_q3_k},
                                             {"Q4_K", from_q4_k},
                                             {"Q5_K", from_q5_k},
                                             {"Q6_K", from_q6_k}}};

const Reading* find_reading(const GgufTensorType& type) {
  const auto* found =
      std::find_if(kReadings.begin(), kReadings.end(), [&](const Reading& r) { return r.name == type.name; });
  return found == kReadings.end() ? nullptr : found;
}

}  // namespace

bool readable_as_f32(const GgufTensorType& type) { return find_reading(type) != nullptr; }

std::string types_readable_as_f32() {
  std::vector<std::string_view> names;
  for (const Reading& reading : kReadings) names.push_back(reading.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

void dequantize(const GgufTensorType& type, std::span<const std::byte> blocks, std::span<float> out) {
  const Reading* reading = find_reading(type);
  MAXPLUS_REQUIRE(reading != nullptr, fmt::format("a type that can be read, not {}", type.name));
  const auto elements = static_cast<std::size_t>(type.block_elements),
             bytes = static_cast<std::size_t>(type.block_bytes);
  MAXPLUS_REQUIRE(out.size() % elements == 0 && out.size() / elements * bytes == blocks.size(), "one place an element");
  if (type.name == "F32") {
    if (!out.empty()) std::memcpy(out.data(), blocks.data(), blocks.size());
    return;
  }
  const auto* from = reinterpret_cast<const Byte*>(blocks.data());
  for (std::size_t i = 0; i < out.size(); i += elements, from += bytes) reading->block(from, out.data() + i);
}

}  // namespace maxplus
