#include "io/gguf_types.hpp"

#include <algorithm>
#include <array>

namespace maxplus {

namespace {

struct KindRow {
  std::uint64_t bytes;
  std::string_view name;
};
constexpr std::array<KindRow, kGgufKinds> kKinds{{{1, "u8"},
                                                  {1, "i8"},
                                                  {2, "u16"},
                                                  {2, "i16"},
                                                  {4, "u32"},
                                                  {4, "i32"},
                                                  {4, "f32"},
                                                  {1, "bool"},
                                                  {0, "string"},
                                                  {0, "list"},
                                                  {8, "u64"},
                                                  {8, "i64"},
                                                  {8, "f64"}}};

constexpr GgufTensorType kTensorTypes[] = {
    {0, "F32", 1, 4},         {1, "F16", 1, 2},         {2, "Q4_0", 32, 18},      {3, "Q4_1", 32, 20},
    {6, "Q5_0", 32, 22},      {7, "Q5_1", 32, 24},      {8, "Q8_0", 32, 34},      {9, "Q8_1", 32, 40},
    {10, "Q2_K", 256, 84},    {11, "Q3_K", 256, 110},   {12, "Q4_K", 256, 144},   {13, "Q5_K", 256, 176},
    {14, "Q6_K", 256, 210},   {15, "Q8_K", 256, 292},   {16, "IQ2_XXS", 256, 66}, {17, "IQ2_XS", 256, 74},
    {18, "IQ3_XXS", 256, 98}, {19, "IQ1_S", 256, 50},   {20, "IQ4_NL", 32, 18},   {21, "IQ3_S", 256, 110},
    {22, "IQ2_S", 256, 82},   {23, "IQ4_XS", 256, 136}, {24, "I8", 1, 1},         {25, "I16", 1, 2},
    {26, "I32", 1, 4},        {27, "I64", 1, 8},        {28, "F64", 1, 8},        {29, "IQ1_M", 256, 56},
    {30, "BF16", 1, 2},       {34, "TQ1_0", 256, 54},   {35, "TQ2_0", 256, 66},   {39, "MXFP4", 32, 17},
};

}  // namespace

std::uint64_t size_of(GgufKind kind) { return kKinds[static_cast<std::size_t>(kind)].bytes; }
std::string_view name_of(GgufKind kind) { return kKinds[static_cast<std::size_t>(kind)].name; }

std::span<const GgufTensorType> gguf_tensor_types() { return kTensorTypes; }

const GgufTensorType* find_gguf_tensor_type(std::uint32_t number) {
  const auto* found = std::find_if(std::begin(kTensorTypes), std::end(kTensorTypes),
                                   [&](const GgufTensorType& type) { return type.number == number; });
  return found == std::end(kTensorTypes) ? nullptr : found;
}

const GgufTensorType* find_gguf_tensor_type(std::string_view name) {
  const auto* found = std::find_if(std::begin(kTensorTypes), std::end(kTensorTypes),
                                   [&](const GgufTensorType& type) { return type.name == name; });
  return found == std::end(kTensorTypes) ? nullptr : found;
}

}  // namespace maxplus
