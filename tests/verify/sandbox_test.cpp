// The broker and its sandboxes, tier by tier; a tier that this host has not is skipped by name.
#include "verify/sandbox/sandbox.hpp"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>

#include "verify/sandbox/message.hpp"
#include "verify/sandbox/sandbox_stock.hpp"
#include "verify/sandbox/scratch_folder.hpp"
#include "verify/sandbox/tier_choice.hpp"
#include "verify/verifier.hpp"

namespace maxplus {
namespace {

using Clock = SandboxedProgram::Clock;
using Event = SandboxedProgram::Event;

constexpr std::size_t kOutput = 1 << 16;

class SandboxTier : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    policy_.environment = {"PATH=/usr/bin:/bin"};
    policy_.memory_mb = 256;
    try {
      choose_tier(broker_, GetParam(), &policy_);
    } catch (const Error& error) {
      ASSERT_EQ(error.code(), ExitCode::unavailable);
      GTEST_SKIP() << error.what();
    }
  }
  // Output, or why there is none.
  std::string shell(Sandbox& sandbox, const std::string& text, double limit_s = 60) {
    SandboxedProgram program(sandbox, {"/bin/sh", "-c", text}, "", kOutput);
    program.close_input();
    const auto limit = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(limit_s));
    switch (program.wait(Clock::now() + limit)) {
      case Event::late: return "late";
      case Event::flooded: return "flooded";
      default: break;
    }
    if (program.end().killed) return "signal " + std::to_string(program.end().code);
    return program.end().code == 0 ? program.output() : "exit " + std::to_string(program.end().code);
  }
  Broker broker_;
  SandboxPolicy policy_;
};

TEST_P(SandboxTier, RunsProgramsOneAfterTheOther) {
  Sandbox sandbox(broker_, policy_, "text of the program");
  EXPECT_EQ(shell(sandbox, "echo hello; exit 0"), "hello\n");
  EXPECT_EQ(shell(sandbox, "exit 7"), "exit 7");
  EXPECT_EQ(shell(sandbox, "while :; do :; done", 0.2), "late");
  EXPECT_EQ(shell(sandbox, "while :; do echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; done"), "flooded");
  EXPECT_EQ(shell(sandbox, "echo again"), "again\n");
  SandboxedProgram cat(sandbox, {"/bin/cat", "{program}"}, "", kOutput);
  EXPECT_EQ(cat.wait(Clock::now() + std::chrono::seconds(60)), Event::ended);
  EXPECT_EQ(cat.output(), "text of the program");
}

TEST_P(SandboxTier, TalksToAProgramLineByLine) {
  Sandbox sandbox(broker_, policy_, "");
  SandboxedProgram program(sandbox, {"/bin/sh", "-c", "while read a; do echo \"got $a\"; done"}, "", kOutput);
  for (const char* word : {"one", "two"}) {
    program.feed(std::string(word) + "\n");
    ASSERT_EQ(program.wait_for_line(Clock::now() + std::chrono::seconds(60)), Event::line);
    EXPECT_EQ(program.take_line(), std::string("got ") + word);
  }
}

TEST_P(SandboxTier, ShowsNothingOfOurs) {
  const std::filesystem::path secret =
      std::filesystem::temp_directory_path() / ("maxplus-secret-" + std::to_string(::getpid()));
  std::ofstream(secret) << "secret";
  std::filesystem::permissions(secret, static_cast<std::filesystem::perms>(0666));
  ::setenv("MAXPLUS_TEST_SECRET", "secret", 1);
  Sandbox sandbox(broker_, policy_, "");
  EXPECT_EQ(shell(sandbox, "test -r " + secret.string() + " && read a <" + secret.string() + " && echo $a; exit 0"),
            "");
  EXPECT_EQ(shell(sandbox, "echo x >" + secret.string() + "; exit 3"), "exit 3");
  EXPECT_EQ(shell(sandbox, "echo $MAXPLUS_TEST_SECRET; read a </proc/1/environ && echo read; exit 0").substr(0, 1),
            "\n");
  std::ifstream file(secret);
  std::string text;
  file >> text;
  EXPECT_EQ(text, "secret");
  std::filesystem::remove(secret);
}

TEST_P(SandboxTier, BoundsFilesAndMemory) {
  policy_.files_mb = 1;
  Sandbox sandbox(broker_, policy_, "");
  EXPECT_NE(shell(sandbox, "exec head -c 100000000 /dev/zero >file"), "");
  EXPECT_EQ(shell(sandbox, "exec head -c 100000 /dev/zero >file"), "");
}

TEST_P(SandboxTier, FailsAsOursWhereAProgramCannotBeStarted) {
  Sandbox sandbox(broker_, policy_, "");
  SandboxedProgram program(sandbox, {"/no/such/program"}, "", kOutput);
  EXPECT_THROW(program.wait(Clock::now() + std::chrono::seconds(60)), SandboxFailure);
}

TEST_P(SandboxTier, TakesAnotherTextAndKeepsNothing) {
  policy_.processes = 4;
  policy_.files_mb = 1;
  Sandbox sandbox(broker_, policy_, "first");
  const std::string id =
      shell(sandbox, "(sleep 600 >&- <&- &) ; cat ../program >file; head -c 900000 /dev/zero >big; echo $$");
  EXPECT_GT(std::atoi(id.c_str()), 0) << id;
  sandbox.take_text("second text");
  EXPECT_EQ(shell(sandbox, "cat ../program; ls; exit 0"), "second text");
  EXPECT_EQ(shell(sandbox, "head -c 900000 /dev/zero >big && kill -KILL -- -1; echo alone"), "alone\n");
  EXPECT_EQ(shell(sandbox, "echo x >../program; echo x >/other; exit 3"), "exit 3");
  sandbox.take_text("");
  EXPECT_EQ(shell(sandbox, "cat ../program"), "");
}

TEST_P(SandboxTier, CountsThreads) {
  Sandbox sandbox(broker_, policy_, "");
  SandboxedProgram program(
      sandbox,
      {"/usr/bin/env", "python3", "-c",
       "import threading, time\n"
       "threading.stack_size(65536)\n"
       "for i in range(500): threading.Thread(target=time.sleep, args=(600,), daemon=True).start()\n"
       "print('all')\n"
       "time.sleep(600)"},
      "", kOutput);
  program.close_input();
  EXPECT_EQ(program.wait(Clock::now() + std::chrono::seconds(60)), Event::ended);
  EXPECT_TRUE(program.end().killed ? program.end().over == kOverThreads : program.end().code != 0)
      << program.end().code << ' ' << program.end().over;
}

TEST_P(SandboxTier, JudgesBesideProgramsThatNeverEnd) {
  std::vector<std::unique_ptr<Sandbox>> sandboxes;
  std::vector<std::unique_ptr<SandboxedProgram>> endless;
  for (int i = 0; i < 6; ++i) {
    sandboxes.push_back(std::make_unique<Sandbox>(broker_, policy_, ""));
    endless.push_back(std::make_unique<SandboxedProgram>(
        *sandboxes.back(), std::vector<std::string>{"/bin/sh", "-c", "while :; do :; done"}, "", kOutput));
  }
  Sandbox sandbox(broker_, policy_, "");
  EXPECT_EQ(shell(sandbox, "echo done"), "done\n");
  for (const auto& program : endless) {
    program->stop();
    EXPECT_TRUE(program->end().killed);
  }
}

INSTANTIATE_TEST_SUITE_P(Tiers, SandboxTier, testing::Values("namespaces", "landlock"));

TEST(Broker, GoesWithAllThatItStarted) {
  pid_t guard = 0;
  {
    const Broker broker;
    guard = broker.id();
    SandboxPolicy policy;
    policy.tier = Tier::none;
    policy.memory_mb = 0;
    policy.folder = "/";
    policy.environment = {"PATH=/usr/bin:/bin"};
    Sandbox sandbox(broker, policy, "");
    SandboxedProgram program(sandbox, {"/bin/sh", "-c", "setsid sleep 1234567 & echo started; wait"}, "", kOutput);
    ASSERT_EQ(program.wait_for_line(Clock::now() + std::chrono::seconds(60)), Event::line);
  }
  EXPECT_NE(::kill(guard, 0), 0);
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::ifstream file(entry.path() / "cmdline");
    const std::string line((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    EXPECT_EQ(line.find("1234567"), std::string::npos) << entry.path();
  }
}

// The pid of the broker itself: the guard's only child.
pid_t broker_of(pid_t guard) {
  for (int tries = 0; tries < 1000; ++tries) {
    std::ifstream file("/proc/" + std::to_string(guard) + "/task/" + std::to_string(guard) + "/children");
    pid_t child = 0;
    if (file >> child) return child;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return 0;
}

TEST(Broker, GoesEvenIfItWasStopped) {
  pid_t guard = 0, broker = 0;
  {
    const Broker stopped;
    guard = stopped.id();
    broker = broker_of(guard);
    if (broker == 0) GTEST_SKIP() << "the kernel does not list a process's children";
    ASSERT_EQ(::kill(broker, SIGSTOP), 0);
    ASSERT_EQ(::kill(guard, SIGSTOP), 0);
  }
  EXPECT_NE(::kill(guard, 0), 0);
  EXPECT_NE(::kill(broker, 0), 0);
}

TEST(Broker, IsStartedOnceMoreIfItDies) {
  const Broker broker;
  SandboxPolicy policy;
  policy.tier = Tier::none;
  policy.memory_mb = 0;
  policy.folder = "/";
  const pid_t first = broker_of(broker.id());
  if (first == 0) GTEST_SKIP() << "the kernel does not list a process's children";
  Sandbox open(broker, policy, "");
  ASSERT_EQ(::kill(first, SIGKILL), 0);
  Sandbox again(broker, policy, "");
  SandboxedProgram program(again, {"/bin/true"}, "", kOutput);
  EXPECT_EQ(program.wait(Clock::now() + std::chrono::seconds(60)), Event::ended);
  const pid_t second = broker_of(broker.id());
  EXPECT_NE(second, first);
  EXPECT_THROW(open.take_text(""), SandboxFailure);  // its keeper went with its broker
  ASSERT_EQ(::kill(second, SIGKILL), 0);
  EXPECT_ANY_THROW(Sandbox(broker, policy, ""));  // not a third time
}

TEST(SandboxStock, HandsOutWhatStillAnswers) {
  const auto broker = std::make_shared<const Broker>();
  SandboxPolicy policy;
  policy.environment = {"PATH=/usr/bin:/bin"};
  try {
    choose_tier(*broker, kAutoTier, &policy);
  } catch (const Error& error) {
    GTEST_SKIP() << error.what();
  }
  SandboxStock stock(broker, policy);
  const auto text_of = [](Sandbox& sandbox) {
    SandboxedProgram program(sandbox, {"/bin/cat", "{program}"}, "", kOutput);
    EXPECT_EQ(program.wait(Clock::now() + std::chrono::seconds(60)), Event::ended);
    return program.output();
  };
  std::unique_ptr<Sandbox> sandbox = stock.take("one");
  const Sandbox* first = sandbox.get();
  EXPECT_EQ(text_of(*sandbox), "one");
  stock.give_back(std::move(sandbox));
  sandbox = stock.take("two");
  EXPECT_EQ(sandbox.get(), first);
  EXPECT_EQ(text_of(*sandbox), "two");
  EXPECT_EQ(text_of(*stock.take("beside")), "beside");
  stock.give_back(std::move(sandbox));
  const pid_t old = broker_of(broker->id());
  if (old == 0) GTEST_SKIP() << "the kernel does not list a process's children";
  ASSERT_EQ(::kill(old, SIGKILL), 0);
  while (broker_of(broker->id()) == old)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));  // the old keepers go
  sandbox = stock.take("three");
  EXPECT_EQ(text_of(*sandbox), "three");
}

TEST(Tier, TheWeakerOfTwoIsTold) {
  EXPECT_EQ(weaker_tier("namespaces", "none"), "none");
  EXPECT_EQ(weaker_tier("landlock", "namespaces"), "landlock");
  EXPECT_EQ(weaker_tier("", "namespaces"), "namespaces");
  EXPECT_EQ(weaker_tier("none", ""), "none");
  EXPECT_EQ(weaker_tier("", ""), "");
}

TEST(ScratchFolder, IsRemovedHoweverDeepAndClosed) {
  const std::string top = testing::TempDir() + "maxplus-scratch-" + std::to_string(::getpid());
  ASSERT_EQ(::mkdir(top.c_str(), 0700), 0);
  const std::string before = std::filesystem::current_path().string();
  ASSERT_EQ(::chdir(top.c_str()), 0);
  for (int i = 0; i < 2000; ++i) {
    std::ofstream("file") << i;
    ASSERT_EQ(::symlink("/etc/passwd", "link"), 0);
    ASSERT_EQ(::mkdir("folder", 0700), 0);
    ASSERT_EQ(::chdir("folder"), 0);
  }
  ASSERT_EQ(::chdir(before.c_str()), 0);
  ASSERT_EQ(::chmod((top + "/folder").c_str(), 0), 0);
  EXPECT_TRUE(remove_tree(top));
  EXPECT_FALSE(std::filesystem::exists(top));
}

TEST(CodeTestsVerifier, JudgesProgramsAndFunctions) {
  VerifierSettings settings;
  settings.timeout_s = 60;
  settings.broker = std::make_shared<const Broker>();
  std::shared_ptr<const Verifier> whole, share;
  try {
    whole = make_verifier("code_tests", nlohmann::json::object(), settings, "[reward]", Locate());
    share = make_verifier("code_tests", {{"fractional", "yes"}}, settings, "[reward]", Locate());
  } catch (const Error& error) {
    GTEST_SKIP() << error.what();
  }
  Problem program, function;
  program.extra = Json::parse(R"({"tests": [{"input": "1\n", "output": "2\n"}, {"input": "2\n", "output": "4\n"}]})");
  function.extra = Json::parse(R"j({"test_list": ["assert f(1) == (1, {2})", "assert f(2) == (2, {3})"]})j");
  const auto judge = [](const Verifier& verifier, const Problem& problem, const std::string& text) {
    return verifier.assess(problem, Rollout(), "```python\n" + text + "\n```\n");
  };
  EXPECT_EQ(judge(*whole, program, "print(2 * int(input()))").verdict, Verdict::correct);
  EXPECT_EQ(judge(*whole, program, "print(2)").verdict, Verdict::wrong);
  EXPECT_EQ(judge(*whole, program, "print(2)").reward, 0.0F);
  EXPECT_EQ(judge(*share, program, "print(2)").reward, 0.5F);
  EXPECT_EQ(judge(*share, program, "print(2)").extracted, "1 of 2 tests passed; test 2: another output");
  EXPECT_EQ(judge(*whole, function, "def f(x): return x, {x + 1}").verdict, Verdict::correct);
  EXPECT_EQ(judge(*share, function, "def f(x): return 1, {2}").reward, 0.5F);
  EXPECT_EQ(judge(*whole, function, "def f(x): return x / 0").extracted,
            "0 of 2 tests passed; test 1: 'ZeroDivisionError'");
}

}  // namespace
}  // namespace maxplus
