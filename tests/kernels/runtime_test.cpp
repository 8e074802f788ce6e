// The team of threads behind a stream, and the choice of the instruction set.
#include "kokkos/team.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "kokkos/kernel_table.hpp"

namespace maxplus {
namespace {

class Team : public testing::TestWithParam<std::pair<int, Stream::Waiting>> {};

TEST_P(Team, HandsOutEveryPartOnceInContiguousRuns) {
  Stream stream(GetParam().first, GetParam().second);
  ASSERT_EQ(stream.threads(), GetParam().first);
  for (const std::int64_t parts : {0, 1, 2, 7, 1000}) {
    std::vector<std::atomic<int>> visits(static_cast<std::size_t>(parts));
    std::vector<int> owner(static_cast<std::size_t>(parts), -1);
    host::for_each_range(stream, parts, [&](std::int64_t first, std::int64_t last, int thread) {
      for (std::int64_t part = first; part < last; ++part) {
        ++visits[static_cast<std::size_t>(part)];
        owner[static_cast<std::size_t>(part)] = thread;
      }
    });
    for (const auto& count : visits) EXPECT_EQ(count.load(), 1);
    EXPECT_TRUE(std::is_sorted(owner.begin(), owner.end()));
  }
}

TEST_P(Team, TakesEveryPartOnceInRunsThatKeepToTheirRow) {
  Stream stream(GetParam().first, GetParam().second);
  for (const std::int64_t row : {1, 5, 64, 1000}) {
    for (const std::int64_t parts : {0, 1, 2, 7, 320, 1000}) {
      std::vector<std::atomic<int>> visits(static_cast<std::size_t>(parts));
      std::vector<host::Run> last(static_cast<std::size_t>(stream.threads()), host::Run{0, 0});
      std::atomic<int> faults{0};
      host::for_each_run(stream, parts, row, [&](host::Run run, host::Run before, int thread) {
        host::Run& own = last[static_cast<std::size_t>(thread)];
        if (run.first >= run.last || run.first / row != (run.last - 1) / row) ++faults;
        if (before.first != own.first || before.last != own.last) ++faults;
        own = run;
        for (std::int64_t part = run.first; part < run.last; ++part) ++visits[static_cast<std::size_t>(part)];
      });
      EXPECT_EQ(faults.load(), 0) << parts << " parts in rows of " << row;
      for (const auto& count : visits) EXPECT_EQ(count.load(), 1);
    }
  }
}

TEST_P(Team, OthersTakeWhatASlowThreadHasNotBegun) {
  if (GetParam().first == 1) GTEST_SKIP() << "one thread has no others";
  Stream stream(GetParam().first, GetParam().second);
  constexpr std::int64_t kParts = 200;
  std::atomic<std::int64_t> done{0};
  std::atomic<bool> begun{false};
  std::int64_t seen = 0, own = 0;
  host::for_each_run(stream, kParts, kParts, [&](host::Run run, host::Run, int) {
    const std::int64_t count = run.last - run.first;
    if (!begun.exchange(true)) {  // the first run lasts until all the rest is done, or for ten seconds
      own = count;
      const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
      while (done.load() < kParts - count && std::chrono::steady_clock::now() < end) std::this_thread::yield();
      seen = done.load();
    }
    done += count;
  });
  EXPECT_GT(own, 0);
  EXPECT_EQ(seen, kParts - own);
  EXPECT_EQ(done.load(), kParts);
}

TEST_P(Team, SurvivesManyShortRoundsAndAMove) {
  Stream first(GetParam().first, GetParam().second);
  std::atomic<std::int64_t> sum{0};
  for (int round = 0; round < 300; ++round) host::for_each_part(first, 5, [&](std::int64_t part) { sum += part; });
  Stream second(std::move(first));
  host::for_each_part(second, 5, [&](std::int64_t part) { sum += part; });
  EXPECT_EQ(sum.load(), 301 * 10);
}

TEST_P(Team, FlushesDenormalsInEveryThread) {
  Stream stream(GetParam().first, GetParam().second);
  std::atomic<int> kept{0};
  host::for_each_part(stream, 64, [&](std::int64_t) {
    volatile float small = std::numeric_limits<float>::min();
    volatile float half = small * 0.5f;
    if (half != 0.0f) ++kept;
  });
#if defined(__x86_64__) || defined(__aarch64__)
  EXPECT_EQ(kept.load(), 0);
#else
  GTEST_SKIP() << "flush-to-zero is not known for this processor";
#endif
}

INSTANTIATE_TEST_SUITE_P(Sizes, Team,
                         testing::Values(std::pair{1, Stream::Waiting::sleep}, std::pair{2, Stream::Waiting::sleep},
                                         std::pair{3, Stream::Waiting::spin_briefly},
                                         std::pair{5, Stream::Waiting::sleep}));

TEST(InstructionSet, MoreThanTheProcessorHasIsABug) {
  const host::InstructionSet best = host::best_instruction_set();
  if (best == host::InstructionSet::avx512) GTEST_SKIP() << "this processor has the largest set";
  EXPECT_THROW(host::use_instruction_set(static_cast<host::InstructionSet>(static_cast<int>(best) + 1)), Error);
}

}  // namespace
}  // namespace maxplus
