// main of tests with ranks: rank 0 prints, every rank agrees on each test's outcome.
#include <cstdio>

#include <gtest/gtest.h>
#include <mpi.h>

#include "device/runtime.hpp"

namespace {

// Forwards to the default printer on rank 0; elsewhere prints only failures. A test failed on one rank fails on all.
class AgreeingListener : public ::testing::EmptyTestEventListener {
 public:
  explicit AgreeingListener(int rank) : rank_(rank) {}
  void OnTestPartResult(const ::testing::TestPartResult& result) override {
    if (rank_ != 0 && result.failed()) {
      std::fprintf(stderr, "[rank %d] %s:%d %s\n", rank_, result.file_name(), result.line_number(), result.message());
    }
  }
  void OnTestEnd(const ::testing::TestInfo& info) override {
    int failed = info.result()->Failed() ? 1 : 0, any = 0;
    MPI_Allreduce(&failed, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (any && !failed) ADD_FAILURE() << "failed on another rank";
  }

 private:
  int rank_;
};

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  ::testing::InitGoogleTest(&argc, argv);
  auto& listeners = ::testing::UnitTest::GetInstance()->listeners();
  auto* printer = listeners.Release(listeners.default_result_printer());
  listeners.Append(new AgreeingListener(rank));
  if (rank == 0) {
    listeners.Append(printer);
  } else {
    delete printer;
  }
  int result = 0;
  {
    maxplus::DeviceRuntime runtime;
    result = RUN_ALL_TESTS();
  }
  int worst = 0;
  MPI_Allreduce(&result, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  return worst;
}
