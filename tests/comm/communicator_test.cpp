// A group of one without MPI_Init, the record of calls, and counts that do not fit.
#include "comm/communicator.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "comm/call_record.hpp"
#include "comm/checked_count.hpp"

namespace maxplus {
namespace {

TEST(CommunicatorOfOne, IsANoOpWithoutMpi) {
  const Communicator alone = Communicator::self("alone");
  EXPECT_EQ(alone.size(), 1);
  EXPECT_EQ(alone.rank(), 0);
  std::vector<double> values = {1.5, -2.0};
  alone.sum(values);
  alone.maximum(values);
  alone.minimum(values);
  alone.broadcast(values.data(), values.size() * sizeof(double), 0);
  EXPECT_EQ(values, (std::vector<double>{1.5, -2.0}));
  EXPECT_EQ(alone.sum(std::int64_t{7}), 7);
  EXPECT_TRUE(alone.any(true));
  EXPECT_FALSE(alone.all(false));
  const std::size_t bytes[1] = {16};
  std::vector<double> received(2, 0.0);
  alone.exchange(values.data(), bytes, received.data(), bytes);
  EXPECT_EQ(received, values);
  alone.gather_all_in_place(values.data(), bytes);
  const auto all = alone.gather_all(std::as_bytes(std::span(values)));
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].size(), 16u);
  alone.require_equal("text", "same");
  alone.barrier();
  const Communicator part = alone.split("part", 3);
  EXPECT_EQ(part.size(), 1);
  EXPECT_EQ(alone.traffic().bytes_sent, 0);
}

TEST(CommunicatorOfOne, RefusesAThreadThatDoesNotOwnIt) {
  const Communicator alone = Communicator::self("alone");
  int code = 0;
  std::thread other([&] {
    try {
      alone.barrier();
    } catch (const Error& error) {
      code = static_cast<int>(error.code());
    }
  });
  other.join();
  EXPECT_EQ(code, 70);
}

TEST(CallRecord, KeepsTheLastThirtyTwoAndTellsWhatIsRunning) {
  CallRecord record;
  EXPECT_STREQ(record.last(), "none");
  EXPECT_EQ(record.text(), "");
  for (int i = 0; i < 40; ++i) {
    record.begin("sum", i);
    record.end();
  }
  record.begin("barrier", 0);
  const std::string text = record.text();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 32);
  EXPECT_EQ(text.rfind("#10 sum 9 bytes done\n", 0), 0u) << text;
  EXPECT_NE(text.find("#41 barrier 0 bytes running\n"), std::string::npos) << text;
  EXPECT_STREQ(record.last(), "barrier");
}

TEST(CheckedCount, RefusesWhatDoesNotFitAnInt) {
  EXPECT_EQ(checked_count(std::numeric_limits<int>::max()), std::numeric_limits<int>::max());
  EXPECT_THROW(checked_count(std::size_t{1} << 31), Error);
  EXPECT_THROW(checked_count((std::size_t{1} << 32) + 4), Error);  // would wrap to 4
}

}  // namespace
}  // namespace maxplus
