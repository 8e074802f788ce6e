#include "run/line_commands.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/log.hpp"
#include "deck/deck.hpp"
#include "run/json_lines.hpp"
#include "run/judged_programs.hpp"
#include "text/json_line.hpp"
#include "text/line_file.hpp"
#include "verify/reward_function.hpp"
#include "verify/sandbox/broker.hpp"
#include "verify/score_line.hpp"
#include "verify/verifier_pool.hpp"

namespace maxplus {

std::vector<std::string> score_lines(const CommandLine& line) {
  describe_verifier(line.verifier);  // refuses a name that is not there
  // The verifier stands in the deck, so that its own keys may be --set.
  std::vector<std::string> set = line.set;
  set.push_back(fmt::format("reward.verifier=\"{}\"", line.verifier));
  const Deck deck = empty_deck_with(set);
  const RewardTable& table = deck.reward;
  RewardContext context;
  if (line.verifier == "code_tests" || line.verifier == "command") context.broker = std::make_shared<const Broker>();
  context.locate = [&deck](std::string_view key) {
    return deck.where(key.empty() ? "reward" : "reward." + std::string(key));
  };
  const std::shared_ptr<const RewardFunction> reward = make_reward_function(table, context);
  if (const std::string unsafe = unconfined_warning(reward->confinement()); !unsafe.empty())
    Log(0, line.verbosity).warning(unsafe);
  std::vector<Json> lines;
  std::vector<JudgeItem> items;
  for (const NumberedLine& input : filled_lines(line.file)) {
    ScoreLine read = read_score_line(input.text, input.where);
    lines.push_back(std::move(read.line));
    items.push_back(std::move(read.item));
  }
  VerifierPool pool(reward, table.workers, table.timeout_s);
  const std::vector<Assessment> assessments = pool.assess(std::move(items), {});
  std::vector<std::string> scored;
  for (std::size_t i = 0; i < lines.size(); ++i) scored.push_back(scored_line(std::move(lines[i]), assessments[i]));
  return scored;
}

std::string verifier_help(const std::string& verifier) { return describe_verifier(verifier); }

}  // namespace maxplus
