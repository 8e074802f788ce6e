// Collective slabs: uneven parts, nothing on the first, middle or last rank, many pieces.
#include "io/hdf5_file.hpp"

#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "io/rank_group.hpp"
#include "io/temporary_folder.hpp"

namespace maxplus {
namespace {

// Rank 0 makes it; everybody knows the name.
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

std::int64_t size_of_rank(int rank, int empty) { return rank == empty ? 0 : 11 * rank + 5; }

TEST(ParallelHdf5File, HoldsThePartsOfAllRanksAlsoWhereOneIsEmpty) {
  const SharedFolder folder;
  const RankGroup& group = folder.group;
  for (std::size_t piece : {std::size_t{100}, std::size_t{1} << 20}) {
    for (int empty : {0, group.size() / 2, group.size() - 1, -1}) {
      const std::string path = folder.path + "/a.h5";
      std::int64_t first = 0, total = 0;
      for (int r = 0; r < group.size(); ++r) {
        if (r < group.rank()) first += size_of_rank(r, empty);
        total += size_of_rank(r, empty);
      }
      const std::int64_t mine = size_of_rank(group.rank(), empty);
      std::vector<double> values;
      for (std::int64_t i = 0; i < mine; ++i) values.push_back(static_cast<double>(first + i) / 3.0);
      Hdf5File file = Hdf5File::create(path, MPI_COMM_WORLD);
      file.limit_pieces(piece);
      file.create_dataset("a", DType::f64, total);
      file.set_attribute("ranks", std::int64_t{group.size()});
      file.write("a", DType::f64, values.data(), first, mine);
      file.flush();
      file.close();
      const Hdf5File again = Hdf5File::open(path, Hdf5File::Mode::read, MPI_COMM_WORLD);
      EXPECT_EQ(again.integer_attribute("ranks"), group.size());
      std::vector<double> part(static_cast<std::size_t>(mine), -1.0);
      again.read("a", DType::f64, part.data(), first, mine);  // collective, uneven
      EXPECT_EQ(part, values);
      const Hdf5File serial = Hdf5File::open(path, Hdf5File::Mode::read);
      std::vector<double> all(static_cast<std::size_t>(total), -1.0);
      if (total > 0) serial.read("a", DType::f64, all.data(), 0, total);
      for (std::int64_t i = 0; i < total; ++i) ASSERT_EQ(all[static_cast<std::size_t>(i)], static_cast<double>(i) / 3.0);
      MPI_Barrier(MPI_COMM_WORLD);
    }
  }
}

TEST(ParallelHdf5File, RefusesAMissingFolderOnAllRanks) {
  const SharedFolder folder;
  EXPECT_THROW(Hdf5File::create(folder.path + "/no/a.h5", MPI_COMM_WORLD), Error);
}

}  // namespace
}  // namespace maxplus
