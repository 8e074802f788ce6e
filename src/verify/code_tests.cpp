// The verifier `code_tests`: model-written programs against hidden tests.
#include <cmath>

#include <fmt/format.h>

#include "verify/all_verifiers.hpp"
#include "verify/child_process.hpp"
#include "verify/code/code_block.hpp"
#include "verify/code/judge_program.hpp"
#include "verify/sandbox/sandbox_stock.hpp"
#include "verify/sandbox/tier_choice.hpp"

namespace maxplus {

const char* const kCodeTestsGrammar =
    "The program is the last complete fenced block of the response that names a language of `languages` (```python); "
    "without one, the\n"
    "last complete block that names none. No such block, or an empty one: no_answer. A block that was not closed is "
    "none.\n"
    "\n"
    "Hidden tests stand in the problem, under \"tests\", or are its answer; JSON inside a text is opened:\n"
    "  {\"tests\": [{\"input\": \"1 2\\n\", \"output\": \"3\\n\"}, …]}               a program: standard input and "
    "output\n"
    "  {\"function\": \"f\", \"tests\": [{\"call\": [1, 2], \"expect\": 3}, …]}      a function, or a method of class "
    "Solution\n"
    "  {\"inputs\": […], \"outputs\": […], \"fn_name\": \"f\"}                     APPS, TACO, verl (fn_name: "
    "functions)\n"
    "  [{\"input\": …, \"output\": …, \"testtype\": \"stdin\"|\"functional\"}]       LiveCodeBench (with func_name)\n"
    "  {\"test_list\": [\"assert f(1, 2) == 3\", …]}                         MBPP; assertions of a call with literals\n"
    "No tests, or one that cannot be read: gold_unusable.\n"
    "\n"
    "Each program test is a run of its own; it passes with exit code 0 and the expected output, compared word by word. "
    "The calls of a\n"
    "function are made one after the other in one process and their values compared as data: tuples equal lists, sets "
    "have no order;\n"
    "values that JSON has not are written {\"__set__\": […]}, {\"__dict__\": [[key, value]…]}, {\"__int__\": "
    "\"digits\"}. "
    "Expected fractions are\n"
    "met within `tolerance`. What is expected never enters the sandbox, and exit codes or messages prove nothing: only "
    "what this\n"
    "program itself has compared counts.\n"
    "\n"
    "correct: every test passed. timed_out: the item took longer than timeout_s. wrong: any other failure, limits "
    "included.\n"
    "crashed: our sandbox failed; the rollout leaves its group. Reward 1 for correct, else 0; with fractional = "
    "\"yes\" "
    "the share of\n"
    "tests that passed. `extracted` says how many passed and why the first failed.\n"
    "\n"
    "sandbox = \"namespaces\": a file tree of its own with /usr read-only and an empty folder, its own processes, no "
    "network, no rights,\n"
    "a filter of system calls. \"landlock\": without namespaces; files by Landlock, no second process, a stricter "
    "filter. \"auto\": the\n"
    "stronger one this host has, refused (exit 69) where neither passes its self-test. \"none\": limits only; for "
    "programs you trust.\n"
    "Each run gets: nothing of the environment, 64 threads, 256 open files, no core file. Programs that read "
    "/dev/stdin or /proc do not\n"
    "find them.";

namespace {

constexpr std::size_t kMaxProgramBytes = 1048576;
constexpr double kOwnPatience_s = 60;  // for our own processes, beyond the item's limit

class CodeTestsVerifier final : public Verifier {
 public:
  // `stock` null: only the keys were read, and nothing can be judged.
  CodeTestsVerifier(std::unique_ptr<SandboxStock> stock, CodeJudgeRules rules, std::vector<std::string> languages,
                    bool fractional)
      : stock_(std::move(stock)), rules_(std::move(rules)), languages_(std::move(languages)), fractional_(fractional) {}

  Assessment assess(const Problem& problem, const Rollout&, std::string_view response) const override {
    const auto tests = code_tests_of(problem);
    if (!tests) return judged(Verdict::gold_unusable, "");
    const auto program = last_code_block(response, languages_);
    if (!program || program->find_first_not_of(" \t\r\n") == std::string::npos) return judged(Verdict::no_answer, "");
    if (program->size() > kMaxProgramBytes) return judged(Verdict::wrong, "a program of more than 1 MiB");
    if (stock_ == nullptr) return judged(Verdict::crashed, "the broker of programs was not started");
    try {
      std::unique_ptr<Sandbox> sandbox = stock_->take(*program);
      const CodeJudgement judgement = judge_program(*sandbox, rules_, *tests);
      stock_->give_back(std::move(sandbox));
      const std::size_t all = tests->test.size();
      const Verdict verdict = judgement.timed_out       ? Verdict::timed_out
                              : judgement.passed == all ? Verdict::correct
                                                        : Verdict::wrong;
      Assessment assessment = judged(verdict, fmt::format("{} of {} tests passed{}{}", judgement.passed, all,
                                                          judgement.reason.empty() ? "" : "; ", judgement.reason));
      if (fractional_) assessment.reward = static_cast<float>(judgement.passed) / static_cast<float>(all);
      return assessment;
    } catch (const std::exception& error) {
      return judged(Verdict::crashed, fmt::format("sandbox: {}", error.what()));
    }
  }
  bool needs_answer() const override { return false; }
  double deadline_s(double timeout_s) const override { return timeout_s + kOwnPatience_s; }
  std::string confinement() const override {
    return stock_ == nullptr ? "" : std::string(name_of(stock_->policy().tier));
  }

 private:
  std::unique_ptr<SandboxStock> stock_;
  CodeJudgeRules rules_;
  std::vector<std::string> languages_;
  bool fractional_;
};

// Inside the sandbox only the system's folders are there, so only they are searched.
std::string system_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  for (const char* folder : {"/usr/local/bin/", "/usr/bin/", "/bin/"}) {
    if (!find_program(folder + name, "").empty()) return folder + name;
  }
  return "";
}

std::string found_program(KeyReader& keys, const char* key, const std::string& name) {
  const std::string found = system_program(name);
  if (found.empty()) {
    keys.add_fault(key, fmt::format("{}: no program '{}' in /usr/local/bin, /usr/bin or /bin", key, name),
                   "a program of the system, or an absolute path below a folder of read_only",
                   "python = \"/usr/bin/python3\"");
  }
  return found;
}

}  // namespace

std::shared_ptr<const Verifier> make_code_tests_verifier(KeyReader& keys, const VerifierSettings& settings) {
  SandboxPolicy policy;
  CodeJudgeRules rules;
  const std::string tier =
      keys.choice("sandbox", kAutoTier, {kAutoTier, "namespaces", "landlock", "none"}, "how programs are confined");
  const bool fractional =
      keys.choice("fractional", "no", {"no", "yes"}, "whether the reward is the share of tests passed") == "yes";
  policy.memory_mb = keys.integer("memory_mb", 1024, 32, 1 << 20, "address space of a process");
  policy.processes = keys.integer("processes", 1, 1, 1000, "at once in a sandbox; each may use memory_mb");
  policy.files_mb = keys.integer("files_mb", 16, 1, 1 << 20, "of files in the program's folder");
  const std::int64_t output_kb = keys.integer("output_kb", 1024, 1, 1 << 20, "of output of all tests of an item");
  rules.tolerance =
      keys.number("tolerance", 1e-6, 0, 1, "of expected fractions, relative to the larger of 1 and the value");
  const std::string python = keys.text("python", "python3", "the interpreter of programs and functions");
  rules.command = keys.texts("command", "what runs a program, with \"{program}\" for its file; default: python");
  std::vector<std::string> languages = keys.texts("languages", "names of fenced blocks; default: python, python3, py");
  policy.read_only = keys.texts("read_only", "folders that programs may read besides /usr");
  for (const std::string& folder : policy.read_only) {
    if (folder.starts_with('/') && folder.size() > 1 && folder.find("..") == std::string::npos) continue;
    keys.add_fault("read_only", fmt::format("read_only: '{}' does not do", folder), "absolute paths",
                   "read_only = [\"/opt/python\"]");
  }
  rules.python = found_program(keys, "python", python);
  if (rules.command.empty())
    rules.command = {rules.python, "-I", "-B", "{program}"};
  else
    rules.command[0] = found_program(keys, "command", rules.command[0]);
  if (languages.empty()) languages = {"python", "python3", "py"};
  rules.timeout_s = settings.timeout_s;
  rules.output_bytes = static_cast<std::size_t>(output_kb) << 10;
  if (fractional) rules.go_on = CodeJudgeRules::After::all;
  policy.cpu_s = static_cast<std::int64_t>(std::ceil(settings.timeout_s)) + 1;
  policy.environment = {"PATH=/usr/local/bin:/usr/bin:/bin",
                        "LANG=C.UTF-8",
                        "HOME={work}",
                        "TMPDIR={work}",
                        "OMP_NUM_THREADS=1",
                        "OPENBLAS_NUM_THREADS=1",
                        "MKL_NUM_THREADS=1"};
  if (!keys.faults().empty()) return nullptr;
  std::unique_ptr<SandboxStock> stock;
  if (settings.broker != nullptr) {
    choose_tier(*settings.broker, tier, &policy);
    stock = std::make_unique<SandboxStock>(settings.broker, std::move(policy));
  }
  return std::make_shared<CodeTestsVerifier>(std::move(stock), std::move(rules), std::move(languages), fractional);
}

}  // namespace maxplus
