// The index of split weights and the files must agree; whatever does not is told by name.
#include "io/safetensors_shards.hpp"

#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "io/temporary_folder.hpp"

namespace maxplus {
namespace {

class Shards : public ::testing::Test {
 protected:
  Shards() {
    write("one.safetensors", {"a", "b"});
    write("two.safetensors", {"c"});
  }
  void write(const std::string& file, const std::vector<std::string>& names) {
    std::vector<SafetensorsTensor> tensors;
    for (const std::string& name : names)
      tensors.push_back({name, TensorView(values_.data(), DType::f32, Space::host, {3})});
    write_safetensors(path(file), tensors, {});
  }
  std::filesystem::path path(const std::string& file) const { return std::filesystem::path(folder_.path()) / file; }
  std::vector<Fault> faults_of(const std::string& index) const {
    std::ofstream(path("index.json")) << index;
    try {
      open_safetensors_shards(path("index.json"));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::data);
      return error.faults();
    }
    return {};
  }

  TemporaryFolder folder_;
  std::vector<float> values_{1, 2, 3};
};

TEST_F(Shards, OpensEachFileOnce) {
  std::ofstream(path("index.json")) << write_safetensors_index(
      {{"a", "one.safetensors"}, {"b", "one.safetensors"}, {"c", "two.safetensors"}}, 36);
  const std::vector<SafetensorsFile> files = open_safetensors_shards(path("index.json"));
  ASSERT_EQ(files.size(), 2u);
  EXPECT_NE(files[0].find("b"), nullptr);
  EXPECT_NE(files[1].find("c"), nullptr);
}

TEST_F(Shards, TellsEveryDisagreementOfIndexAndFiles) {
  const auto faults =
      faults_of(R"({"weight_map": {"a": "two.safetensors", "b": "one.safetensors", "d": "one.safetensors"}})");
  std::string all;
  for (const Fault& fault : faults) all += fault.found + "; ";
  EXPECT_EQ(all,
            "tensor 'a' stands here; tensor 'c' is not in the index; tensor 'a' is not in 'two.safetensors'; "
            "tensor 'd' is not in 'one.safetensors'; ");
}

TEST_F(Shards, RefusesWhatIsNoIndex) {
  for (const char* index :
       {"", "[]", "{}", "{\"weight_map\": []}", "{\"weight_map\": {}}", "{\"weight_map\": {\"a\": 1}}",
        "{\"weight_map\": {\"a\": \"../one.safetensors\"}}", "{\"weight_map\": {\"a\": \"\"}}",
        "{\"weight_map\": {\"a\": \"one.safetensors\", \"a\": \"two.safetensors\"}}"}) {
    EXPECT_EQ(faults_of(index).size(), 1u) << index;
  }
}

TEST_F(Shards, NamesAFileThatIsMissing) {
  std::ofstream(path("index.json")) << R"({"weight_map": {"a": "three.safetensors"}})";
  try {
    open_safetensors_shards(path("index.json"));
    FAIL() << "was opened";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::no_input);
    EXPECT_NE(error.faults()[0].where.find("three.safetensors"), std::string::npos);
  }
}

}  // namespace
}  // namespace maxplus
