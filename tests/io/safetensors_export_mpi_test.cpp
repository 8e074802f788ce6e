// Any number of ranks writes the same bytes, and an error on one of them is an error on all.
#include "io/safetensors_export.hpp"

#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "io/rank_group.hpp"
#include "io/temporary_folder.hpp"

namespace maxplus {
namespace {

// Rank 0 makes it; everybody knows the name.
struct ExportFolder {
  ExportFolder() {
    if (group.rank() == 0) own = std::make_unique<TemporaryFolder>();
    path = group.broadcast(own ? own->path() : "");
  }
  ~ExportFolder() { MPI_Barrier(MPI_COMM_WORLD); }
  std::unique_ptr<TemporaryFolder> own;
  RankGroup group{MPI_COMM_WORLD};
  std::string path;
};

// Odd extents; the second tensor is smaller than a group of eight.
const std::vector<ExportTensor> kShared{{"w", {13, 11}}, {"tiny", {3}}, {"x", {5, 7, 3}}, {"y", {257}}};

std::vector<float> shared_values(std::size_t tensor) {
  std::vector<float> values(static_cast<std::size_t>(kShared[tensor].elements()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(tensor * 1000 + i) * 0.37f;
  return values;
}

TEST(ParallelExport, GivesTheBytesThatOneRankWrites) {
  const ExportFolder folder;
  std::vector<std::vector<float>> held;
  for (std::size_t t = 0; t < kShared.size(); ++t) held.push_back(shared_values(t));
  const auto values = [&](std::size_t tensor) -> std::span<const float> { return held[tensor]; };
  for (const DType dtype : {DType::f32, DType::bf16}) {
    ExportOptions options;
    options.dtype = dtype;
    options.file_bytes = 600;
    const ExportPlan together = plan_export(kShared, "together", options),
                     alone = plan_export(kShared, "alone", options);
    write_export(folder.path, together, folder.group, values);
    if (folder.group.rank() != 0) continue;
    write_export(folder.path, alone, RankGroup(MPI_COMM_SELF), values);
    for (std::size_t f = 0; f < alone.files.size(); ++f) {
      EXPECT_EQ(bytes_of_file(folder.path + "/" + together.files[f].name),
                bytes_of_file(folder.path + "/" + alone.files[f].name));
    }
  }
}

TEST(ParallelExport, FailsOnAllRanksWhereOneCannotGiveItsValues) {
  const ExportFolder folder;
  const ExportPlan plan = plan_export(kShared, "broken", {});
  const int last = folder.group.size() - 1;
  try {
    write_export(folder.path, plan, folder.group, [&](std::size_t tensor) -> std::span<const float> {
      static std::vector<float> held;
      if (folder.group.rank() == last) throw Error(ExitCode::data, "the source is broken");
      held = shared_values(tensor);
      return held;
    });
    FAIL() << "was written";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::data);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path));
}

}  // namespace
}  // namespace maxplus
