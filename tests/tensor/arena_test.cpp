// Arenas: plan and run agree, marks give memory back, a full arena is a bug.
#include "tensor/arena.hpp"

#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace maxplus {
namespace {

// What a caller does once to plan and once to run.
void use(Arena& arena) {
  arena.take(DType::f32, {3, 5});
  {
    ArenaScope scope(arena);
    arena.take(DType::u8, {1});
    arena.take(DType::f64, {100});
  }
  arena.take(DType::i32, {7});
}

TEST(Arena, APlanTakesExactlyWhatTheRunNeeds) {
  Arena plan("plan");
  use(plan);
  EXPECT_TRUE(plan.counting());
  Arena real("real", plan.peak(), Space::host);
  use(real);
  EXPECT_EQ(real.used(), plan.used());
  EXPECT_EQ(real.peak(), plan.peak());
  EXPECT_EQ(real.capacity(), plan.peak());
}

TEST(Arena, CountsInLinesOf64Bytes) {
  Arena arena("lines");
  EXPECT_EQ(arena.take(DType::u8, {1}).data(), nullptr);
  EXPECT_EQ(arena.used(), 64u);
  arena.take(DType::f32, {0, 9});
  EXPECT_EQ(arena.used(), 64u);
  arena.take(DType::f32, {17});
  EXPECT_EQ(arena.used(), 192u);
}

TEST(Arena, ViewsAreAlignedZeroAndApart) {
  Arena arena("real", 1024, Space::host);
  const TensorView a = arena.take(DType::f32, {5}), b = arena.take(DType::f32, {5});
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a.data()) % Arena::kAlignment, 0u);
  EXPECT_EQ(static_cast<char*>(b.data()) - static_cast<char*>(a.data()), 64);
  for (const float x : a.span<float>()) EXPECT_EQ(x, 0.0f);
}

TEST(Arena, AMarkGivesTheSameMemoryAgain) {
  Arena arena("real", 512, Space::host);
  arena.take(DType::f32, {1});
  const std::size_t mark = arena.mark();
  void* first = arena.take(DType::f32, {100}).data();
  arena.release(mark);
  EXPECT_EQ(arena.take(DType::f32, {2}).data(), first);
  EXPECT_EQ(arena.peak(), 64u + 448u);
}

TEST(Arena, AFullArenaAndAWrongReleaseAreBugs) {
  Arena arena("small", 128, Space::host);
  arena.take(DType::f32, {16});
  try {
    arena.take(DType::f32, {17});
    FAIL() << "more was given than there is";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::software);
    EXPECT_NE(std::string(error.what()).find("small"), std::string::npos) << error.what();
  }
  EXPECT_THROW(arena.release(65), Error);
  EXPECT_THROW(arena.take(DType::f32, {-1}), Error);
}

}  // namespace
}  // namespace maxplus
