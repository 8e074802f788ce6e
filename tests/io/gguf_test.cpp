// The reader refuses every broken file of tests/data/malformed with one line, and finds what the valid ones hold.
#include "io/gguf.hpp"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/error.hpp"

namespace maxplus {
namespace {

const std::filesystem::path kMalformedFiles = std::filesystem::path(MAXPLUS_TEST_DATA) / "malformed";
const std::filesystem::path kGgufFiles = std::filesystem::path(MAXPLUS_TEST_DATA) / "gguf";

nlohmann::json parsed(const std::filesystem::path& path) {
  std::ifstream in(path);
  return nlohmann::json::parse(in);
}

std::vector<float> numbers_of(const GgufFile& file, const char* name) {
  const GgufTensor tensor = file.find_tensor(name).value();
  std::vector<float> values(static_cast<std::size_t>(tensor.elements()));
  EXPECT_EQ(tensor.data.size(), values.size() * sizeof(float));
  std::memcpy(values.data(), tensor.data.data(), tensor.data.size());
  return values;
}

// The one fault of a file that is refused; empty for a valid one.
std::string fault_of(const std::filesystem::path& path) {
  try {
    GgufFile file(path);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::data) << path;
    EXPECT_EQ(error.faults().size(), 1u) << path;
    EXPECT_EQ(error.faults()[0].where, path.string());
    return error.faults()[0].found;
  }
  return {};
}

TEST(GgufFile, AcceptsAndRefusesTheListedFiles) {
  int seen = 0;
  for (const auto& item : parsed(kMalformedFiles / "list.json")) {
    const std::string name = item["file"], expect = item["expect"];
    if (name.rfind("gguf_", 0) != 0) continue;
    ++seen;
    ASSERT_EQ(std::filesystem::file_size(kMalformedFiles / name), item["bytes"].get<std::size_t>()) << name;
    const std::string fault = fault_of(kMalformedFiles / name);
    EXPECT_EQ(fault.empty(), expect.rfind("accept", 0) == 0) << name << ": " << item["wrong"] << ": " << fault;
    EXPECT_EQ(fault.find('\n'), std::string::npos);
  }
  EXPECT_EQ(seen, 36);
}

TEST(GgufFile, NamesBytePlaceAndFault) {
  EXPECT_EQ(fault_of(kMalformedFiles / "gguf_version_1.gguf"), "at byte 8: header: version 1 is not supported");
  const std::string overlap = fault_of(kMalformedFiles / "gguf_overlapping_tensors.gguf");
  EXPECT_NE(overlap.find("tensor 'b': its data overlap those of 'a'"), std::string::npos) << overlap;
  const std::string twice = fault_of(kMalformedFiles / "gguf_duplicate_key.gguf");
  EXPECT_NE(twice.find("key 'general.architecture'"), std::string::npos) << twice;
}

TEST(GgufFile, FindsTheTensorsOfTheValidFiles) {
  for (const char* name : {"gguf_ok.gguf", "gguf_ok_alignment_64.gguf"}) {
    const GgufFile file(kMalformedFiles / name);
    ASSERT_EQ(file.tensor_count(), 2u);
    EXPECT_EQ(numbers_of(file, "a"), (std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7}));
    EXPECT_EQ(numbers_of(file, "b"), (std::vector<float>{8, 9, 10, 11, 12, 13, 14, 15}));
    EXPECT_FALSE(file.find_tensor("c").has_value());
  }
}

TEST(GgufFile, GivesExtentsAndRowsOfATensor) {
  const GgufFile file(kMalformedFiles / "gguf_ok.gguf");
  const GgufTensor b = file.find_tensor("b").value();
  EXPECT_EQ(b.extents_slowest_first(), (std::vector<std::int64_t>{2, 4}));
  EXPECT_EQ(b.rows(), 2);
  EXPECT_EQ(b.row(1).data(), b.data.data() + 16);
}

TEST(GgufFile, ReadsValuesOfEveryKindByKey) {
  const GgufFile file(kGgufFiles / "all_types.gguf");
  ASSERT_EQ(file.key_count(), 9u);
  EXPECT_EQ(file.key(0), "general.architecture");
  EXPECT_EQ(file.text("general.architecture"), "llama");
  EXPECT_EQ(file.whole("llama.block_count"), 1);
  EXPECT_EQ(file.text("test.text"), "\u00e4\u00f6\u00fc \u4f60\u597d");
  EXPECT_EQ(file.flag("test.flag"), true);
  EXPECT_EQ(file.number("test.pi"), 3.14159265358979323846);
  EXPECT_EQ(file.whole("test.u8"), 255);
  EXPECT_EQ(file.whole("test.i64"), -(std::int64_t{1} << 40));
  EXPECT_EQ(file.texts("test.strings"), (std::vector<std::string_view>{"a", "", "ccc"}));
  const GgufValue list = file.find("test.ints").value();
  EXPECT_EQ(list.type_name(), "list of i32");
  ASSERT_EQ(list.count(), 3u);
  EXPECT_EQ(list.whole(1), -2);
  EXPECT_EQ(list.number(2), 3.0);
  EXPECT_EQ(file.whole("no.such.key"), std::nullopt);
}

TEST(GgufFile, RefusesAKeyOfAnotherTypeByName) {
  const GgufFile file(kGgufFiles / "all_types.gguf");
  try {
    (void)file.whole("test.text");
    FAIL() << "a string was read as a number";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::data);
    EXPECT_EQ(error.faults()[0].found, "key 'test.text' is a string");
  }
  EXPECT_THROW((void)file.text("test.u8"), Error);
  EXPECT_THROW((void)file.flag("test.u8"), Error);
  EXPECT_THROW((void)file.texts("test.ints"), Error);
  EXPECT_THROW((void)file.whole("test.pi"), Error);
}

}  // namespace
}  // namespace maxplus
