// Plans depend on names and extents alone; what is written reads back, in f32 and rounded to bf16, in one file or many.
#include "io/safetensors_export.hpp"

#include <bit>
#include <cmath>
#include <fstream>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "io/half.hpp"
#include "io/safetensors.hpp"
#include "io/safetensors_shards.hpp"
#include "io/temporary_folder.hpp"

namespace maxplus {
namespace {

const std::vector<ExportTensor> kTensors{{"b", {3, 5}}, {"a", {7}}, {"empty", {0, 4}}, {"c", {2, 2, 2}}};

std::vector<float> values_of(std::size_t tensor) {
  std::vector<float> values(static_cast<std::size_t>(kTensors[tensor].elements()));
  std::iota(values.begin(), values.end(), 100.0f * static_cast<float>(tensor) + 0.3f);
  return values;
}

void write_all(const std::string& folder, const ExportPlan& plan) {
  std::vector<float> held;
  write_export(folder, plan, RankGroup(MPI_COMM_SELF), [&](std::size_t tensor) -> std::span<const float> {
    held = values_of(tensor);
    return held;
  });
}

void expect_values(const SafetensorsFile& file, std::size_t tensor, float relative_error) {
  const SafetensorsEntry* entry = file.find(kTensors[tensor].name);
  ASSERT_NE(entry, nullptr) << kTensors[tensor].name;
  EXPECT_EQ(entry->extents, kTensors[tensor].extents);
  std::vector<float> read(static_cast<std::size_t>(entry->elements()), NAN);
  file.read_f32(*entry, read);
  const std::vector<float> expected = values_of(tensor);
  for (std::size_t i = 0; i < read.size(); ++i) EXPECT_NEAR(read[i], expected[i], relative_error * expected[i]);
}

TEST(SafetensorsExport, WritesOneFileThatReadsBack) {
  const TemporaryFolder folder;
  ExportOptions options;
  options.metadata = {{"format", "pt"}};
  const ExportPlan plan = plan_export(kTensors, "model", options);
  EXPECT_TRUE(plan.index.empty());
  ASSERT_EQ(plan.files.size(), 1u);
  EXPECT_EQ(plan.files[0].header.size() % 8, 0u);
  write_all(folder.path(), plan);
  const SafetensorsFile file(folder.path() + "/model.safetensors");
  EXPECT_EQ(file.metadata(), options.metadata);
  for (std::size_t t = 0; t < kTensors.size(); ++t) expect_values(file, t, 0);
}

TEST(SafetensorsExport, CutsLargeModelsIntoFilesWithAnIndex) {
  const TemporaryFolder folder;
  ExportOptions options;
  options.file_bytes = 64;  // b has 60 bytes, a 28, c 32
  const ExportPlan plan = plan_export(kTensors, "model", options);
  ASSERT_EQ(plan.files.size(), 2u);
  write_all(folder.path(), plan);
  std::ofstream(folder.path() + "/index.json") << plan.index;
  const std::vector<SafetensorsFile> files = open_safetensors_shards(folder.path() + "/index.json");
  ASSERT_EQ(files.size(), 2u);
  EXPECT_TRUE(files[0].where().ends_with("model-00001-of-00002.safetensors"));
  expect_values(files[0], 0, 0);
  for (std::size_t t = 1; t < kTensors.size(); ++t) expect_values(files[1], t, 0);
}

TEST(SafetensorsExport, RoundsToBf16) {
  const TemporaryFolder folder;
  ExportOptions options;
  options.dtype = DType::bf16;
  write_all(folder.path(), plan_export(kTensors, "model", options));
  const SafetensorsFile file(folder.path() + "/model.safetensors");
  EXPECT_EQ(file.find("c")->dtype, "BF16");
  for (std::size_t t = 0; t < kTensors.size(); ++t) expect_values(file, t, 0x1p-8f);
}

TEST(SafetensorsExport, RoundsTiesToEvenAndKeepsWhatIsNoNumber) {
  EXPECT_EQ(bf16_of_float(1.0f), 0x3f80);
  EXPECT_EQ(bf16_of_float(std::bit_cast<float>(0x3f808000u)), 0x3f80);
  EXPECT_EQ(bf16_of_float(std::bit_cast<float>(0x3f818000u)), 0x3f82);
  EXPECT_EQ(bf16_of_float(std::bit_cast<float>(0x3f808001u)), 0x3f81);
  EXPECT_EQ(bf16_of_float(std::numeric_limits<float>::max()), 0x7f80);
  EXPECT_EQ(bf16_of_float(-std::numeric_limits<float>::infinity()), 0xff80);
  EXPECT_TRUE(std::isnan(float_of_bf16(bf16_of_float(std::bit_cast<float>(0x7f800001u)))));
}

TEST(SafetensorsExport, LeavesNothingBehindWhereItCannotWrite) {
  const TemporaryFolder folder;
  const ExportPlan plan = plan_export(kTensors, "model", {});
  EXPECT_THROW(write_all(folder.path() + "/not/there", plan), Error);
  EXPECT_THROW(
      write_export(folder.path(), plan, RankGroup(MPI_COMM_SELF),
                   [](std::size_t) -> std::span<const float> { throw Error(ExitCode::data, "the source is broken"); }),
      Error);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

}  // namespace
}  // namespace maxplus
