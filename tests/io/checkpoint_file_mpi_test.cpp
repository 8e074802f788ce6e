// Checkpoints of several ranks: the same bytes on any number, readable on any, and errors that all ranks hear of.
#include "io/checkpoint_file.hpp"

#include <filesystem>
#include <limits>
#include <memory>
#include <numeric>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "io/checkpoint_contents.hpp"
#include "io/rank_group.hpp"
#include "io/temporary_folder.hpp"

namespace maxplus {
namespace {

constexpr std::int64_t kLargest = 9001;

struct SharedFolder {
  SharedFolder() {
    if (group.rank() == 0) own = std::make_unique<TemporaryFolder>();
    path = group.broadcast(own ? own->path() : "");
  }
  ~SharedFolder() { MPI_Barrier(MPI_COMM_WORLD); }
  std::unique_ptr<TemporaryFolder> own;
  RankGroup group{MPI_COMM_WORLD};
  std::string path;
};

CheckpointSettings settings() { return {2, CheckpointVerify::sample, 64}; }

TEST(ParallelCheckpoint, IsReadOnAnyNumberOfRanks) {
  const SharedFolder folder;
  std::set<std::string> verified;
  const KnownContents known(7, kLargest);
  const std::string path = write_checkpoint(folder.path, MPI_COMM_WORLD, known.contents, settings(), verified).path;
  for (int readers = 1; readers <= folder.group.size(); ++readers) {
    MPI_Comm part = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, folder.group.rank() < readers ? 0 : 1, folder.group.rank(), &part);
    EXPECT_EQ(difference(path, part, known), "");
    MPI_Comm_free(&part);
  }
  EXPECT_EQ(newest_valid_checkpoint(folder.path, MPI_COMM_WORLD).path, path);
}

TEST(ParallelCheckpoint, HasTheBytesThatOneProcessWrites) {
  const SharedFolder folder;
  std::set<std::string> verified, alone;
  const KnownContents known(8, kLargest);
  const std::string path = write_checkpoint(folder.path, MPI_COMM_WORLD, known.contents, settings(), verified).path;
  if (folder.group.rank() == 0) {
    const TemporaryFolder other;
    const std::string single = write_checkpoint(other.path(), MPI_COMM_SELF, known.contents, settings(), alone).path;
    const auto one = bytes_of_file(single), several = bytes_of_file(path);
    EXPECT_TRUE(one == several) << one.size() << " and " << several.size() << " bytes";
  }
}

// Even tensors are held by the last rank alone, odd ones by all but the last.
TEST(ParallelCheckpoint, HasTheSameBytesWhereRanksHoldDifferentTensors) {
  const SharedFolder folder;
  if (folder.group.size() == 1) GTEST_SKIP() << "needs two ranks";
  std::set<std::string> verified, alone;
  const KnownContents known(9, kLargest);
  CheckpointContents cut = known.contents;
  const int last = folder.group.size() - 1;
  std::vector<int> others(static_cast<std::size_t>(last));
  std::iota(others.begin(), others.end(), 0);
  for (std::size_t i = 0; i < cut.tensors.size(); ++i) {
    CheckpointTensor& tensor = cut.tensors[i];
    tensor.elements = static_cast<std::int64_t>(tensor.values.size());
    tensor.holders = i % 2 == 0 ? std::vector<int>{last} : others;
    if ((i % 2 == 0) != (folder.group.rank() == last)) tensor.values = {};
  }
  CheckpointSettings all = settings();
  all.verify = CheckpointVerify::full;
  const std::string path = write_checkpoint(folder.path, MPI_COMM_WORLD, cut, all, verified).path;
  EXPECT_EQ(difference(path, MPI_COMM_WORLD, known), "");
  if (folder.group.rank() == 0) {
    const TemporaryFolder other;
    const std::string single = write_checkpoint(other.path(), MPI_COMM_SELF, known.contents, settings(), alone).path;
    EXPECT_TRUE(bytes_of_file(single) == bytes_of_file(path));
  }
}

TEST(ParallelCheckpoint, TellsAllRanksOfAValueThatIsNotFiniteOnOne) {
  const SharedFolder folder;
  std::set<std::string> verified;
  KnownContents known(1, kLargest);
  known.storage[0].back() = std::numeric_limits<float>::infinity();  // in the last rank's part
  try {
    write_checkpoint(folder.path, MPI_COMM_WORLD, known.contents, settings(), verified);
    ADD_FAILURE() << "written";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::numeric);
    EXPECT_NE(std::string(error.what()).find("group.0.weight"), std::string::npos);
  }
}

TEST(ParallelCheckpoint, RefusesContentsThatDifferBetweenRanks) {
  const SharedFolder folder;
  if (folder.group.size() == 1) GTEST_SKIP() << "needs two ranks";
  std::set<std::string> verified;
  KnownContents known(1, kLargest);
  known.contents.state += folder.group.rank() == folder.group.size() - 1 ? " " : "";
  try {
    write_checkpoint(folder.path, MPI_COMM_WORLD, known.contents, settings(), verified);
    ADD_FAILURE() << "written";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::protocol);
  }
}

TEST(ParallelCheckpoint, FallsBackTogetherAndKeepsTwo) {
  const SharedFolder folder;
  std::set<std::string> verified;
  for (std::int64_t i = 1; i <= 4; ++i) {
    write_checkpoint(folder.path, MPI_COMM_WORLD, KnownContents(i, kLargest).contents, settings(), verified);
  }
  const std::string newest = folder.path + "/iteration-000004.h5";
  if (folder.group.rank() == 0) {
    auto bytes = bytes_of_file(newest);
    bytes.resize(bytes.size() - 4096);
    write_file(newest, bytes);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const ValidCheckpoint found = newest_valid_checkpoint(folder.path, MPI_COMM_WORLD);
  EXPECT_EQ(found.path, folder.path + "/iteration-000003.h5");
  EXPECT_EQ(found.refused.size(), 1u);
  EXPECT_FALSE(std::filesystem::exists(folder.path + "/iteration-000002.h5"));
}

}  // namespace
}  // namespace maxplus
