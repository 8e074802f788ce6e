// Every type's blocks give the published values, bit for bit.
#include "io/gguf_dequantize.hpp"

#include <cctype>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/error.hpp"

namespace maxplus {
namespace {

const std::filesystem::path kBlocks = std::filesystem::path(MAXPLUS_TEST_DATA) / "gguf";

std::string read_whole(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(Dequantize, GivesThePublishedBitsOfEveryType) {
  const GgufFile file(kBlocks / "all_types.gguf");
  const nlohmann::json index = nlohmann::json::parse(read_whole(kBlocks / "index.json"));
  EXPECT_EQ(index.size(), 13u);
  for (const auto& [name, made] : index.items()) {
    std::string tensor_name = "t." + name;
    for (char& c : tensor_name) c = static_cast<char>(std::tolower(c));
    const GgufTensor tensor = file.find_tensor(tensor_name).value();
    ASSERT_EQ(tensor.type->name, name);
    EXPECT_EQ(tensor.type->block_elements, made["block_elements"].get<std::int64_t>()) << name;
    EXPECT_EQ(tensor.type->block_bytes, made["block_bytes"].get<std::int64_t>()) << name;
    ASSERT_EQ(tensor.extents_slowest_first(), (std::vector<std::int64_t>{3, 512})) << name;
    ASSERT_TRUE(readable_as_f32(*tensor.type)) << name;
    const std::string expected = read_whole(kBlocks / (name + ".f32"));
    ASSERT_EQ(expected.size(), 3u * 512 * sizeof(float));
    for (std::int64_t row = 0; row < 3; ++row) {
      std::vector<float> values(512, std::numeric_limits<float>::quiet_NaN());
      dequantize(*tensor.type, tensor.row(row), values);
      EXPECT_EQ(std::memcmp(values.data(), expected.data() + row * 2048, 2048), 0) << name << " row " << row;
    }
  }
}

TEST(Dequantize, TakesAnyNumberOfWholeBlocks) {
  const GgufFile file(kBlocks / "all_types.gguf");
  const GgufTensor tensor = file.find_tensor("t.q4_1").value();
  std::vector<float> whole(3 * 512, std::numeric_limits<float>::quiet_NaN()), block(32);
  dequantize(*tensor.type, tensor.data, whole);
  dequantize(*tensor.type, tensor.data.subspan(5 * 20, 20), block);
  EXPECT_EQ(std::memcmp(block.data(), whole.data() + 5 * 32, sizeof(float) * 32), 0);
  dequantize(*tensor.type, {}, {});
  EXPECT_THROW(dequantize(*tensor.type, tensor.data, std::span<float>(whole).first(32)), Error);
}

TEST(Dequantize, NamesWhatItReadsAndNothingElse) {
  EXPECT_EQ(types_readable_as_f32(), "F32, F16, BF16, Q8_0, Q4_0, Q4_1, Q5_0, Q5_1, Q2_K, Q3_K, Q4_K, Q5_K, Q6_K");
  for (const char* name : {"Q8_1", "IQ4_NL", "I32", "MXFP4"})
    EXPECT_FALSE(readable_as_f32(*find_gguf_tensor_type(name))) << name;
  EXPECT_EQ(find_gguf_tensor_type(4), nullptr);
}

}  // namespace
}  // namespace maxplus
