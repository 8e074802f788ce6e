// What the run-time library says about itself.
#include "device/runtime.hpp"

#include <set>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "device/stream.hpp"

namespace maxplus {
namespace {

TEST(Runtime, NamesItself) {
  EXPECT_EQ(backend_description().rfind("kokkos ", 0), 0u) << backend_description();
  EXPECT_TRUE(std::set<std::string>({"plain", "avx2", "avx512"}).contains(instruction_set()));
  EXPECT_FALSE(processor_name().empty());
}

TEST(Stream, KeepsItsThreadsThroughAMove) {
  Stream one(1, Stream::Waiting::sleep), three(3, Stream::Waiting::sleep);
  EXPECT_EQ(one.threads(), 1);
  one = std::move(three);
  EXPECT_EQ(one.threads(), 3);
  one.synchronize();
}

}  // namespace
}  // namespace maxplus
