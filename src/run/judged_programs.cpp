#include "run/judged_programs.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "deck/deck.hpp"

namespace maxplus {

namespace {

constexpr std::size_t kReadBytes = std::size_t{1} << 20;

bool starts_programs(const std::string& verifier) { return verifier == "code_tests" || verifier == "command"; }

// Whether a problem may name such a verifier itself; reading it all is the business of others. What is no plain file
// can be read only once, and not by us.
bool may_name_programs(const std::string& path) {
  std::error_code error;
  if (path.empty() || !std::filesystem::is_regular_file(path, error)) return false;
  const std::vector<std::string> names = {"\"code_tests\"", "\"command\""};
  const std::size_t overlap = names[0].size();  // a name may lie across two blocks
  std::ifstream file(path, std::ios::binary);
  std::string block;
  while (file) {
    block.erase(0, block.size() - std::min(block.size(), overlap));
    const std::size_t kept = block.size();
    block.resize(kept + kReadBytes);
    file.read(block.data() + kept, static_cast<std::streamsize>(kReadBytes));
    block.resize(kept + static_cast<std::size_t>(file.gcount()));
    for (const std::string& name : names) {
      if (block.find(name) != std::string::npos) return true;
    }
  }
  return false;
}

bool starts_programs(const Deck& deck) {
  const RewardTable& reward = deck.reward;
  return deck.environment || starts_programs(reward.verifier) || starts_programs(deck.eval.verifier) ||
         std::any_of(reward.part.begin(), reward.part.end(),
                     [](const RewardPart& part) { return starts_programs(part.verifier); }) ||
         std::any_of(deck.data.source.begin(), deck.data.source.end(),
                     [](const DataSource& source) {
                       return starts_programs(source.verifier) || may_name_programs(source.train);
                     }) ||
         may_name_programs(deck.data.train) || may_name_programs(deck.data.eval);
}

// A deck from a pipe can be read only once, and not by us.
bool may_start_programs(const CommandLine& line) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(line.deck, error)) return std::filesystem::exists(line.deck, error);
  if (std::any_of(line.problems.begin(), line.problems.end(), may_name_programs)) return true;
  try {
    return starts_programs(read_deck_and_faults(line.deck, line.set).deck);
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

std::shared_ptr<const Broker> broker_for(const CommandLine& line) {
  const bool judges = (line.command == Command::train && line.mode != TrainMode::check) ||
                      line.command == Command::replay || line.command == Command::eval;
  return judges && may_start_programs(line) ? std::make_shared<const Broker>() : nullptr;
}

std::string unconfined_warning(const std::string& tier) {
  return tier == name_of(Tier::none) ? "judged programs run unconfined on this host: sandbox = \"none\"" : "";
}

}  // namespace maxplus
