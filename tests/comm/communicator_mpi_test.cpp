// Collectives on several ranks, with pieces from one byte up, and what the check mode notices.
#include "comm/communicator.hpp"

#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "comm/environment.hpp"

namespace maxplus {
namespace {

Communicator world() { return Communicator("world", MPI_COMM_WORLD, Communicator::Checking::on); }

constexpr std::size_t kPieces[] = {1, 7, 64, std::size_t{64} << 20};

std::uint8_t byte_of(int rank, std::size_t i) { return static_cast<std::uint8_t>(rank * 37 + static_cast<int>(i) * 11 + 5); }

// How much rank `from` sends to `to`: uneven, and nothing for some pairs.
std::size_t bytes_between(int from, int to) { return (from + 2 * to) % 3 == 0 ? 0 : static_cast<std::size_t>(13 * from + 29 * to + 1); }

TEST(Communicator, SumsInRankOrderWhateverThePieces) {
  for (std::size_t piece : kPieces) {
    Communicator comm = world();
    comm.limit_pieces(piece);
    const std::size_t n = 101;
    std::vector<double> values(n), expected(n, 0.0);
    const auto term = [](int rank, std::size_t i) { return std::pow(10.0, (rank * 7 + static_cast<int>(i)) % 19 - 9) / 3.0; };
    for (std::size_t i = 0; i < n; ++i) {
      values[i] = term(comm.rank(), i);
      expected[i] = term(0, i);
      for (int r = 1; r < comm.size(); ++r) expected[i] += term(r, i);
    }
    comm.sum(values);
    EXPECT_EQ(values, expected);
  }
}

TEST(Communicator, FindsExtremesAndLetsNotANumberThrough) {
  const Communicator comm = world();
  const int last = comm.size() - 1;
  std::vector<double> values = {static_cast<double>(comm.rank()), comm.rank() == last ? std::nan("") : 1e300};
  std::vector<double> least = values;
  comm.maximum(values);
  comm.minimum(least);
  EXPECT_EQ(values[0], last);
  EXPECT_EQ(least[0], 0.0);
  EXPECT_TRUE(std::isnan(values[1]));
  EXPECT_TRUE(std::isnan(least[1]));
  EXPECT_EQ(comm.maximum(std::int64_t{comm.rank()}), last);
  EXPECT_EQ(comm.minimum(std::int64_t{comm.rank()}), 0);
  EXPECT_EQ(comm.sum(std::int64_t{1}), comm.size());
  EXPECT_TRUE(comm.any(comm.rank() == last));
  EXPECT_EQ(comm.all(comm.rank() == last), comm.size() == 1);
}

TEST(Communicator, BroadcastsFromEveryRootInPieces) {
  for (std::size_t piece : kPieces) {
    Communicator comm = world();
    comm.limit_pieces(piece);
    for (int root = 0; root < comm.size(); ++root) {
      std::vector<std::uint8_t> data(203, 0xEE);
      if (comm.rank() == root) {
        for (std::size_t i = 0; i < data.size(); ++i) data[i] = byte_of(root, i);
      }
      comm.broadcast(data.data(), data.size(), root);
      for (std::size_t i = 0; i < data.size(); ++i) ASSERT_EQ(data[i], byte_of(root, i));
    }
    comm.broadcast(nullptr, 0, 0);
  }
}

TEST(Communicator, ExchangesUnevenAndEmptyParts) {
  for (std::size_t piece : kPieces) {
    Communicator comm = world();
    comm.limit_pieces(piece);
    const int me = comm.rank();
    std::vector<std::size_t> send, receive;
    std::vector<std::uint8_t> out;
    for (int r = 0; r < comm.size(); ++r) {
      send.push_back(bytes_between(me, r));
      receive.push_back(bytes_between(r, me));
      for (std::size_t i = 0; i < send.back(); ++i) out.push_back(byte_of(me * 8 + r, i));
    }
    std::vector<std::uint8_t> in(std::accumulate(receive.begin(), receive.end(), std::size_t{0}), 0xEE);
    comm.exchange(out.data(), send, in.data(), receive);
    std::size_t at = 0;
    for (int r = 0; r < comm.size(); ++r) {
      for (std::size_t i = 0; i < bytes_between(r, me); ++i) ASSERT_EQ(in[at++], byte_of(r * 8 + me, i));
    }
  }
}

TEST(Communicator, GathersWithNothingOnTheFirstMiddleOrLastRank) {
  for (std::size_t piece : kPieces) {
    Communicator comm = world();
    comm.limit_pieces(piece);
    for (int empty : {0, comm.size() / 2, comm.size() - 1}) {
      const auto size_of_rank = [&](int r) { return r == empty ? std::size_t{0} : static_cast<std::size_t>(17 * r + 3); };
      std::vector<std::size_t> bytes;
      std::vector<std::uint8_t> data, expected;
      for (int r = 0; r < comm.size(); ++r) {
        bytes.push_back(size_of_rank(r));
        for (std::size_t i = 0; i < bytes.back(); ++i) {
          expected.push_back(byte_of(r, i));
          data.push_back(r == comm.rank() ? byte_of(r, i) : 0xEE);
        }
      }
      comm.gather_all_in_place(data.data(), bytes);
      EXPECT_EQ(data, expected);
      std::vector<std::byte> mine;
      for (std::size_t i = 0; i < size_of_rank(comm.rank()); ++i) mine.push_back(std::byte{byte_of(comm.rank(), i)});
      const auto all = comm.gather_all(mine);
      ASSERT_EQ(static_cast<int>(all.size()), comm.size());
      for (int r = 0; r < comm.size(); ++r) {
        ASSERT_EQ(all[static_cast<std::size_t>(r)].size(), size_of_rank(r));
        for (std::size_t i = 0; i < size_of_rank(r); ++i) ASSERT_EQ(all[static_cast<std::size_t>(r)][i], std::byte{byte_of(r, i)});
      }
    }
  }
}

TEST(Communicator, CountsTheBytesThatItsHeaderPromises) {
  const Communicator comm = world();
  const std::int64_t others = comm.size() - 1;
  const Traffic before = comm.traffic();
  std::vector<double> values(10, 1.0);
  comm.broadcast(values.data(), 80, 0);
  EXPECT_EQ(comm.traffic().bytes_sent - before.bytes_sent, comm.rank() == 0 ? 80 * others : 0);
  EXPECT_EQ(comm.traffic().calls - before.calls, 1);
  const std::vector<std::size_t> bytes(static_cast<std::size_t>(comm.size()), 8);
  std::vector<double> table(static_cast<std::size_t>(comm.size()), 0.0);
  const Traffic middle = comm.traffic();
  comm.gather_all_in_place(table.data(), bytes);
  EXPECT_EQ(comm.traffic().bytes_sent - middle.bytes_sent, 8 * others);
}

TEST(Communicator, SplitsByColourInRankOrder) {
  const Communicator comm = world();
  const Communicator part = comm.split(comm.rank() % 2 == 0 ? "even" : "odd", comm.rank() % 2);
  EXPECT_EQ(part.size(), (comm.size() + (comm.rank() % 2 == 0 ? 1 : 0)) / 2);
  EXPECT_EQ(part.rank(), comm.rank() / 2);
  EXPECT_EQ(part.sum(std::int64_t{comm.rank() % 2}), comm.rank() % 2 == 0 ? 0 : part.size());
}

TEST(Communicator, TellsAllRanksWhoHasAnotherText) {
  const Communicator comm = world();
  comm.require_equal("deck", "seed = 1");
  if (comm.size() == 1) GTEST_SKIP() << "needs two ranks";
  try {
    comm.require_equal("deck", comm.rank() == comm.size() - 1 ? "seed = 2 and longer" : "seed = 1");
    ADD_FAILURE() << "a difference was not noticed";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::protocol);
    EXPECT_NE(std::string(error.what()).find("seed = 2 and longer"), std::string::npos) << error.what();
  }
  comm.barrier();
}

TEST(CheckMode, NamesTheCallsWhereRanksDiffer) {
  const Communicator comm = world();
  if (comm.size() == 1) GTEST_SKIP() << "needs two ranks";
  const bool odd_one = comm.rank() == comm.size() - 1;
  std::vector<double> values(3, 1.0);
  std::vector<std::int64_t> integers(3, 1);
  const auto expect_refusal = [&](auto&& mine, auto&& others, const char* word) {
    try {
      if (odd_one) mine();
      else others();
      ADD_FAILURE() << "a mismatch was not noticed: " << word;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::software);
      EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
    }
  };
  expect_refusal([&] { comm.barrier(); }, [&] { comm.sum(values); }, "barrier");                             // another call
  expect_refusal([&] { comm.sum(std::span(values).first(2)); }, [&] { comm.sum(values); }, "16 bytes");      // another size
  expect_refusal([&] { comm.sum(integers); }, [&] { comm.sum(values); }, "i64");                             // another type
  expect_refusal([&] { comm.broadcast(values.data(), 8, 1); }, [&] { comm.broadcast(values.data(), 8, 0); }, "root 1");
  const auto ranks = static_cast<std::size_t>(comm.size());
  std::vector<std::size_t> none(ranks, 0), wrong(ranks, 0);
  wrong[0] = 4;  // expects four bytes from rank 0, which sends nothing
  expect_refusal([&] { comm.exchange(values.data(), none, values.data(), wrong); },
                 [&] { comm.exchange(values.data(), none, values.data(), none); }, "exchange");
  comm.barrier();  // still usable
}

TEST(Communicator, ShowsItsLastCallToAnotherThread) {
  const Communicator comm = world();
  comm.barrier();
  std::string seen, text;
  std::thread watchdog([&] {
    seen = comm.last_call();
    text = comm.recent_calls();
  });
  watchdog.join();
  EXPECT_EQ(seen, "barrier");
  EXPECT_NE(text.find("barrier 0 bytes done"), std::string::npos) << text;
}

TEST(MpiEnvironment, KnowsLibraryAndHost) {
  EXPECT_FALSE(MpiEnvironment::library_version().empty());
  EXPECT_FALSE(MpiEnvironment::host_name().empty());
}

}  // namespace
}  // namespace maxplus
