// The verifier `command`: a program of the user's judges, one JSON line in, one out.
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "text/json_line.hpp"
#include "verify/all_verifiers.hpp"
#include "verify/command_workers.hpp"
#include "verify/program_keys.hpp"

namespace maxplus {

const char* const kCommandGrammar =
    "`command` is started once a worker and lives on. It gets one JSON line a rollout on standard input: {\"id\", "
    "\"rollout_id\",\n"
    "\"prompt\", \"response\", \"finish\", \"answer\", …the problem's other keys}, and answers with one line on "
    "standard output:\n"
    "{\"reward\": x, \"verdict\": \"correct\"|\"wrong\"|\"no_answer\"|\"gold_unusable\"|\"timed_out\"|\"crashed\", "
    "\"extracted\": text}.\n"
    "`reward` is a finite number; without `verdict`, a reward above 0 is correct, any other wrong; `extracted` is "
    "optional.\n"
    "It must flush its output after each line, and write nothing else there. A program that gives no answer within "
    "timeout_s,\n"
    "ends, writes anything else or more than 1 MiB is killed with all its descendants and replaced; its item is "
    "`crashed` (our fault, not the answer's)\n"
    "and leaves its group. It runs in the deck's folder, with PATH, HOME, LANG=C.UTF-8 and the variables of\n"
    "`keep_environment` only. It is trusted: nothing confines it.";

namespace {

Assessment crashed(std::string reason) { return judged(Verdict::crashed, std::move(reason)); }

Assessment read_answer(const std::string& line) {
  Json json;
  try {
    json = parse_json_object(line, "");
  } catch (const Error& error) {
    return crashed(fmt::format("the program's answer: {}", error.faults()[0].found));
  }
  const auto reward = json.find("reward");
  if (reward == json.end() || !reward->is_number()) return crashed("the program's answer has no number \"reward\"");
  const double value = reward->get<double>();
  if (!(std::abs(value) <= static_cast<double>(std::numeric_limits<float>::max())))
    return crashed("the program's reward is not finite");
  Assessment assessment;
  assessment.reward = static_cast<float>(value);
  assessment.verdict = value > 0 ? Verdict::correct : Verdict::wrong;
  try {
    if (const auto verdict = json.find("verdict"); verdict != json.end())
      assessment.verdict = verdict_of(verdict->get<std::string>());
    if (const auto extracted = json.find("extracted"); extracted != json.end()) {
      assessment.extracted = extracted->is_string() ? extracted->get<std::string>() : extracted->dump();
    }
  } catch (const std::exception&) {
    return crashed("the program's answer has an unknown \"verdict\"");
  }
  return assessment;
}

class CommandVerifier final : public Verifier {
 public:
  CommandVerifier(ChildProgram program, const VerifierSettings& settings)
      : workers_(settings.broker == nullptr ? nullptr
                                            : std::make_unique<CommandWorkers>(std::move(program), settings.broker,
                                                                               settings.workers, settings.timeout_s)) {}

  Assessment assess(const Problem& problem, const Rollout& rollout, std::string_view response) const override {
    if (workers_ == nullptr) return crashed("the broker of programs was not started");
    Json line = {{"id", problem.id},     {"rollout_id", rollout.id.text()},   {"prompt", problem.prompt_text},
                 {"response", response}, {"finish", name_of(rollout.finish)}, {"answer", problem.answer}};
    for (const auto& [key, value] : problem.extra.items()) {
      if (!line.contains(key)) line[key] = value;
    }
    CommandWorkers::Answer answer = workers_->ask(line.dump(-1, ' ', false, Json::error_handler_t::replace));
    return answer.failure.empty() ? read_answer(answer.line) : crashed(std::move(answer.failure));
  }
  bool needs_answer() const override { return false; }
  // The workers keep their own deadline; the pool's comes later, for a fault of ours only.
  double deadline_s(double timeout_s) const override { return 2 * timeout_s + 5; }

 private:
  std::unique_ptr<CommandWorkers> workers_;  // null: only the keys were read
};

}  // namespace

std::shared_ptr<const Verifier> make_command_verifier(KeyReader& keys, const VerifierSettings& settings) {
  std::optional<ChildProgram> program = read_child_program(keys, settings.folder);
  if (!program) return nullptr;
  return std::make_shared<CommandVerifier>(std::move(*program), settings);
}

}  // namespace maxplus
