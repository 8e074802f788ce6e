// The variable is read once a process, so each case runs in a child.
#include "io/fault_hook.hpp"

#include <chrono>
#include <csignal>
#include <cstdlib>

#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace maxplus {
namespace {

constexpr int kSurvived = 0;

// Arrives five times at `phase` as `rank`; the exit status is the arrival that failed, 100 for a variable refused.
int status_of(const char* plan, const char* phase, int rank) {
  const pid_t child = fork();
  if (child == 0) {
    if (plan != nullptr) setenv("MAXPLUS_FAULT", plan, 1);
    for (int i = 1; i <= 5; ++i) {
      try {
        fault_point(phase, rank);
      } catch (const Error& error) {
        _exit(error.code() == ExitCode::io ? i : 100);
      }
    }
    _exit(kSurvived);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

TEST(FaultPoint, DoesNothingWithoutTheVariable) { EXPECT_EQ(status_of(nullptr, "checkpoint_open", 0), kSurvived); }

TEST(FaultPoint, FailsAtTheNamedArrivalOfTheNamedRank) {
  EXPECT_EQ(WEXITSTATUS(status_of("checkpoint_open:2:3:error", "checkpoint_open", 2)), 3);
  EXPECT_EQ(status_of("checkpoint_open:2:3:error", "checkpoint_open", 1), kSurvived);
  EXPECT_EQ(status_of("checkpoint_open:2:3:error", "checkpoint_write", 2), kSurvived);
  EXPECT_EQ(status_of("checkpoint_open:2:6:error", "checkpoint_open", 2), kSurvived);
}

TEST(FaultPoint, Kills) {
  const int status = status_of("step:0:1:kill", "step", 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGKILL);
}

TEST(FaultPoint, Delays) {
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(status_of("step:0:2:delay=0.2", "step", 0), kSurvived);
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(200));
}

TEST(FaultPoint, RefusesAPlanThatItCannotRead) {
  for (const char* plan : {"step", "step:0:1", "step:x:1:kill", "step:0:1:burn", "step:0:1:delay=soon", ""}) {
    EXPECT_EQ(WEXITSTATUS(status_of(plan, "step", 0)), plan[0] == '\0' ? kSurvived : 100) << plan;
  }
}

}  // namespace
}  // namespace maxplus
