// The pool with verifiers that hang, and the verifier `command` with programs that misbehave in every way.
#include "verify/verifier_pool.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "verify/sandbox/broker.hpp"

namespace maxplus {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

std::vector<JudgeItem> items(const std::vector<std::string>& responses) {
  std::vector<JudgeItem> list;
  for (const std::string& response : responses) {
    JudgeItem item;
    item.response = response;
    item.problem.answer = "x";
    list.push_back(item);
  }
  return list;
}

// Hangs until it is let go, throws, or gives the length of the response.
class Moody final : public Verifier {
 public:
  Assessment assess(const Problem&, const Rollout&, std::string_view response) const override {
    if (response == "throw") throw std::runtime_error("no");
    if (response == "hang") {
      std::unique_lock lock(mutex_);
      there_.wait(lock, [this] { return released_; });
      ++returned_;
    }
    Assessment a = judged(Verdict::correct, std::string(response));
    a.reward = static_cast<float>(response.size());
    return a;
  }
  void release() {
    const std::lock_guard lock(mutex_);
    released_ = true;
    there_.notify_all();
  }
  int returned() const {
    const std::lock_guard lock(mutex_);
    return returned_;
  }

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable there_;
  bool released_ = false;
  mutable int returned_ = 0;
};

TEST(VerifierPool, JudgesWhatIsAddedWhileMoreIsMade) {
  const auto moody = std::make_shared<Moody>();
  VerifierPool pool(moody, 2, 0.2);
  EXPECT_TRUE(pool.finish({}).empty());
  pool.add(items({"a", "hang"}));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  pool.look_after();
  EXPECT_EQ(pool.abandoned(), 1) << "a late one is given up though nobody waits";
  pool.add({});
  pool.add(items({"bb", "throw", "ccc"}));
  const auto results = pool.finish({});
  ASSERT_EQ(results.size(), 5u);
  EXPECT_EQ(results[0].reward, 1);
  EXPECT_EQ(results[1].verdict, Verdict::crashed);
  EXPECT_EQ(results[2].reward, 2);
  EXPECT_EQ(results[3].verdict, Verdict::crashed);
  EXPECT_EQ(results[4].reward, 3);
  EXPECT_GE(pool.busy_seconds(), 0.2);
  EXPECT_TRUE(pool.finish({}).empty());
  moody->release();
}

TEST(VerifierPool, DropsWhatIsNoLongerWanted) {
  const auto moody = std::make_shared<Moody>();
  VerifierPool pool(moody, 1, 5);
  pool.add(items({"hang", "a", "b"}));
  pool.drop();
  moody->release();
  const auto results = pool.assess(items({"cc"}), {});
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].reward, 2);
}

TEST(VerifierPool, KeepsTheOrderOfTheItems) {
  VerifierPool pool(std::make_shared<Moody>(), 3, 5);
  EXPECT_TRUE(pool.assess({}, {}).empty());
  std::vector<std::string> responses;
  for (int i = 0; i < 301; ++i) responses.push_back(std::string(static_cast<std::size_t>(i % 37), 'a'));
  for (int round = 0; round < 3; ++round) {
    const auto results = pool.assess(items(responses), {});
    ASSERT_EQ(results.size(), responses.size());
    for (std::size_t i = 0; i < results.size(); ++i)
      EXPECT_EQ(results[i].reward, static_cast<float>(responses[i].size()));
  }
}

TEST(VerifierPool, GivesUpWhatHangsAndGoesOn) {
  const auto moody = std::make_shared<Moody>();
  const auto start = Clock::now();
  int polls = 0;
  {
    VerifierPool pool(moody, 2, 0.3);
    const auto results = pool.assess(items({"a", "hang", "throw", "hang", "hang", "bb"}), [&] { ++polls; });
    const std::vector<Verdict> expected = {Verdict::correct, Verdict::crashed, Verdict::crashed,
                                           Verdict::crashed, Verdict::crashed, Verdict::correct};
    for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(results[i].verdict, expected[i]) << i;
    EXPECT_EQ(results[5].reward, 2.0F);
    EXPECT_EQ(pool.abandoned(), 3);
    EXPECT_EQ(pool.assess(items({"ccc"}), {})[0].reward, 3.0F);
  }
  EXPECT_GT(polls, 3);
  EXPECT_LT(seconds_since(start), 5);
  moody->release();  // the threads that were given up end by themselves, on state that is still there
  while (moody->returned() < 3 && seconds_since(start) < 10) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(moody->returned(), 3);
}

TEST(VerifierPool, LetsTheCallerLeave) {
  const auto moody = std::make_shared<Moody>();
  const auto start = Clock::now();
  {
    VerifierPool pool(moody, 1, 0.5);
    EXPECT_THROW(pool.assess(items({"hang", "a"}), [] { throw std::runtime_error("signal"); }), std::runtime_error);
    EXPECT_LT(seconds_since(start), 0.4);
    EXPECT_EQ(pool.assess(items({"bb"}), {})[0].reward, 2.0F);
  }
  moody->release();
}

// Children of this process.
std::set<pid_t> children() {
  std::set<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::ifstream file(entry.path() / "stat");
    std::string line;
    if (!std::getline(file, line)) continue;
    const std::size_t close = line.rfind(')');
    if (close == std::string::npos) continue;
    if (std::atoi(line.c_str() + close + 4) == ::getpid()) found.insert(std::atoi(line.c_str()));
  }
  return found;
}

std::size_t open_files() {
  return static_cast<std::size_t>(
      std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator()));
}

// Reads lines; what it does is named by the response.
constexpr const char* kProgram = R"sh(
while IFS= read -r line; do
  case "$line" in
    *'"response":"good'*) echo '{"reward": 0.5, "verdict": "wrong", "extracted": "e"}' ;;
    *'"response":"plain'*) echo '{"reward": -2}' ;;
    *'"response":"hang'*) sleep 1000 ;;
    *'"response":"spin'*) while :; do :; done ;;
    *'"response":"die'*) exit 0 ;;
    *'"response":"kill'*) kill -SEGV $$ ;;
    *'"response":"garbage'*) echo 'what?' ;;
    *'"response":"binary'*) printf '\377\376\000\n' ;;
    *'"response":"two'*) printf '{"reward": 1}\n{"reward": 1}\n' ;;
    *'"response":"nan'*) echo '{"reward": NaN}' ;;
    *'"response":"inf'*) echo '{"reward": 1e999}' ;;
    *'"response":"big'*) echo '{"reward": 1e300}' ;;
    *'"response":"text'*) echo '{"reward": "1"}' ;;
    *'"response":"none'*) echo '{"verdict": "correct"}' ;;
    *'"response":"odd'*) echo '{"reward": 1, "verdict": "fine"}' ;;
    *'"response":"flood'*) head -c 3000000000 /dev/zero ;;
    *'"response":"environment'*) echo "{\"reward\": 1, \"extracted\": \"$MAXPLUS_TEST_SECRET,$MAXPLUS_TEST_KEPT,$(ls /proc/$$/fd | tr '\n' ' ')\"}" ;;
    *'"response":"child'*) sleep 1000 & setsid sleep 1000 & echo '{"reward": 1}' ;;
  esac
done
)sh";

std::shared_ptr<const Verifier> command(double timeout_s) {
  VerifierSettings settings;
  settings.timeout_s = timeout_s;
  settings.workers = 2;
  settings.broker = std::make_shared<const Broker>();
  return make_verifier("command", {{"command", {"sh", "-c", kProgram}}, {"keep_environment", {"MAXPLUS_TEST_KEPT"}}},
                       settings, "[reward]", Locate());
}

TEST(CommandVerifier, TurnsEveryMisbehaviourIntoCrashed) {
  const std::set<pid_t> before = children();
  const std::size_t files = open_files();
  const auto start = Clock::now();
  {
    VerifierPool pool(command(1.0), 2, 1.0);
    std::vector<std::string> responses = {"good"};
    for (const char* bad : {"hang", "die", "garbage", "spin", "kill", "binary", "two", "nan", "inf", "big", "text",
                            "none", "odd", "flood"}) {
      responses.emplace_back(bad);
      responses.emplace_back("good");
    }
    const auto results = pool.assess(items(responses), {});
    for (std::size_t i = 0; i < results.size(); ++i) {
      EXPECT_EQ(name_of(results[i].verdict), i % 2 == 0 ? "wrong" : "crashed")
          << responses[i] << ": " << results[i].extracted;
      EXPECT_EQ(results[i].reward, i % 2 == 0 ? 0.5F : 0.0F) << responses[i];
    }
    EXPECT_EQ(results[0].extracted, "e");
    EXPECT_EQ(pool.assess(items({"plain"}), {})[0].reward, -2.0F);
    EXPECT_EQ(pool.abandoned(), 0);
  }
  EXPECT_LT(seconds_since(start), 30);
  EXPECT_EQ(children(), before);
  EXPECT_EQ(open_files(), files);
}

TEST(CommandVerifier, GivesTheProgramNothingOfOurs) {
  ::setenv("MAXPLUS_TEST_SECRET", "secret", 1);
  ::setenv("MAXPLUS_TEST_KEPT", "kept", 1);
  const auto verifier = command(20);
  JudgeItem item = items({"environment"})[0];
  const Assessment a = verifier->assess(item.problem, item.rollout, item.response);
  EXPECT_EQ(a.extracted.substr(0, 6), ",kept,") << a.extracted;
  // Standard input, output and error; a shell may hold one or two more of its own for the substitution.
  EXPECT_EQ(a.extracted.substr(6, 5), "0 1 2") << a.extracted;
  EXPECT_LE(a.extracted.size(), 6U + 12U) << a.extracted;
}

TEST(CommandVerifier, TakesItsChildrenWithIt) {
  const auto alive = [](const char* what) {
    int count = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      std::ifstream file(entry.path() / "cmdline");
      const std::string line((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
      count += line == std::string("sleep\0", 6) + what + std::string("\0", 1) ? 1 : 0;
    }
    return count;
  };
  // A child becomes a sleep, and a killed one goes, a moment later.
  const auto comes_to = [&](int count) {
    const auto start = Clock::now();
    while (alive("1000") != count && seconds_since(start) < 5)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return alive("1000") == count;
  };
  const int before = alive("1000");
  {
    const auto verifier = command(20);
    JudgeItem item = items({"child"})[0];
    EXPECT_EQ(verifier->assess(item.problem, item.rollout, item.response).reward, 1.0F);
    EXPECT_TRUE(comes_to(before + 2));
  }
  EXPECT_TRUE(comes_to(before));
}

TEST(CommandVerifier, RefusesAProgramThatIsNotThere) {
  for (const char* name : {"no-such-program-anywhere", "/etc/passwd", "/"}) {
    EXPECT_THROW(make_verifier("command", {{"command", {name}}}, VerifierSettings(), "[reward]", Locate()), Error)
        << name;
  }
  EXPECT_THROW(make_verifier("command", nlohmann::json::object(), VerifierSettings(), "[reward]", Locate()), Error);
}

// Processes that run kProgram.
int judges_alive() {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::ifstream file(entry.path() / "cmdline");
    const std::string line((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    count += line.find(kProgram) != std::string::npos ? 1 : 0;
  }
  return count;
}

TEST(CommandVerifier, EndsItsWorkersWhenWeAreKilled) {
  const int before = judges_alive();
  int report[2];
  ASSERT_EQ(::pipe(report), 0);
  const pid_t us = ::fork();
  ASSERT_GE(us, 0);
  if (us == 0) {  // a process of its own, that is killed while a worker hangs
    const auto verifier = command(1000);
    std::thread asking([&] {
      JudgeItem item = items({"spin"})[0];
      (void)verifier->assess(item.problem, item.rollout, item.response);
    });
    while (judges_alive() == before) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    (void)!::write(report[1], "x", 1);
    for (;;) ::pause();
  }
  char started = 0;
  ASSERT_EQ(::read(report[0], &started, 1), 1);
  ::kill(us, SIGKILL);
  ::waitpid(us, nullptr, 0);
  const auto start = Clock::now();
  while (judges_alive() > before && seconds_since(start) < 5)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(judges_alive(), before);
  ::close(report[0]);
  ::close(report[1]);
}

}  // namespace
}  // namespace maxplus
