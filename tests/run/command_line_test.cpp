// The command line as a value, and what is said of a bad one.
#include "run/command_line.hpp"

#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "run/build_info.hpp"

namespace maxplus {
namespace {

std::vector<std::string> words(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> parts;
  for (std::string part; stream >> part;) parts.push_back(part);
  return parts;
}

CommandLine parse(const std::string& text) { return parse_command_line(words(text)); }

std::string refusal(const std::string& text) {
  try {
    parse(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage) << text;
    EXPECT_EQ(error.faults().size(), 1u) << text;
    return error.faults().front().found;
  }
  return "accepted";
}

TEST(CommandLine, TrainHasADeckAndOverrides) {
  const CommandLine line = parse("train --set run.seed=2 deck.toml --set=run.iterations=3 --set a.b=[1,2] --out runs/x --quiet --progress line --json");
  EXPECT_EQ(line.command, Command::train);
  EXPECT_EQ(line.deck, "deck.toml");
  EXPECT_EQ(line.set, (std::vector<std::string>{"run.seed=2", "run.iterations=3", "a.b=[1,2]"}));
  EXPECT_EQ(line.out, "runs/x");
  EXPECT_EQ(line.verbosity, Verbosity::quiet);
  EXPECT_EQ(line.progress, ProgressStyle::line);
  EXPECT_EQ(line.output, CommandLine::Output::json);
  EXPECT_EQ(line.mode, TrainMode::run);
  EXPECT_TRUE(needs_ranks(line));
}

TEST(CommandLine, CheckNeedsNoRanks) {
  const CommandLine line = parse("train deck.toml --check --ranks 48");
  EXPECT_EQ(line.mode, TrainMode::check);
  EXPECT_EQ(line.ranks, 48);
  EXPECT_FALSE(needs_ranks(line));
}

TEST(CommandLine, GenerateHasTheStatedDefaults) {
  const CommandLine line = parse("generate m p.jsonl");
  EXPECT_EQ(line.model, "m");
  EXPECT_EQ(line.file, "p.jsonl");
  EXPECT_EQ(line.generate.temperature, 1.0);
  EXPECT_EQ(line.generate.samples, 1);
  EXPECT_EQ(line.generate.seed, 1);
  EXPECT_EQ(line.generate.max_new_tokens, 256);
  EXPECT_EQ(line.generate.choice, GenerateOptions::Choice::sampled);
  const CommandLine other = parse("generate m p.jsonl --greedy --temperature 0.7 --top-p 0.9 --top-k 5 --max-new-tokens 8 --samples 3 --seed 9223372036854775807 --raw");
  EXPECT_EQ(other.generate.choice, GenerateOptions::Choice::greedy);
  EXPECT_EQ(other.generate.prompt, GenerateOptions::Prompt::raw);
  EXPECT_EQ(other.generate.temperature, 0.7);
  EXPECT_EQ(other.generate.top_p, 0.9);
  EXPECT_EQ(other.generate.top_k, 5);
  EXPECT_EQ(other.generate.max_new_tokens, 8);
  EXPECT_EQ(other.generate.samples, 3);
  EXPECT_EQ(other.generate.seed, 9223372036854775807);
}

TEST(CommandLine, EveryCommandHasItsArguments) {
  EXPECT_EQ(parse("eval d.toml --model c.h5").model, "c.h5");
  EXPECT_EQ(parse("logprob m f --temperature 0.5").temperature, 0.5);
  const CommandLine tokenize = parse("tokenize m f --generation-prompt --no-special");
  EXPECT_EQ(tokenize.tokenize.ending, TokenizeOptions::Ending::generation_prompt);
  EXPECT_EQ(tokenize.tokenize.special, TokenizeOptions::Special::as_text);
  EXPECT_FALSE(needs_ranks(tokenize));
  EXPECT_EQ(parse("score f --verifier exact").verifier, "exact");
  const CommandLine advantage = parse("advantage f --estimator grpo --std n-1 --scope batch --epsilon 0 --gamma 0.9 --lambda 0.95");
  EXPECT_EQ(advantage.advantage.estimator, "grpo");
  EXPECT_EQ(advantage.advantage.std, "n-1");
  EXPECT_EQ(advantage.advantage.scope, "batch");
  EXPECT_EQ(advantage.advantage.epsilon, 0.0);
  EXPECT_EQ(advantage.advantage.lambda, 0.95);
  const CommandLine replay = parse("replay d.toml r.jsonl --gradients g.safetensors");
  EXPECT_EQ(replay.deck, "d.toml");
  EXPECT_EQ(replay.file, "r.jsonl");
  EXPECT_EQ(replay.gradients, "g.safetensors");
  EXPECT_EQ(parse("inspect f").file, "f");
  EXPECT_EQ(parse("report a b c").runs, (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(parse("report a").events, CommandLine::Events::none);
  EXPECT_EQ(parse("report a --tensorboard").events, CommandLine::Events::tensorboard);
}

TEST(CommandLine, HelpVersionAndBuildInfoArePrinted) {
  for (const char* text : {"--help", "-h", "help", "--version", "--build-info", "train --help", "train d.toml -h", "help train",
                           "train --nonsense --help", "train --describe", "generate --version", "report --help"}) {
    const CommandLine line = parse(text);
    EXPECT_EQ(line.command, Command::print) << text;
    EXPECT_FALSE(line.text.empty()) << text;
    EXPECT_EQ(line.text.back(), '\n') << text;
    EXPECT_FALSE(needs_ranks(line));
  }
  for (const char* name : {"train", "eval", "generate", "logprob", "tokenize", "score", "advantage", "replay", "inspect", "report"}) {
    const std::string text = parse(std::string(name) + " --help").text;
    EXPECT_NE(text.find("\nexample:\n  "), std::string::npos) << name;
    EXPECT_NE(text.find("--set TABLE.KEY=VALUE"), std::string::npos) << name;
    EXPECT_NE(parse("--help").text.find(name), std::string::npos) << name;
  }
  EXPECT_EQ(parse("score --verifier math --help").help_verifier, "math");
  EXPECT_EQ(parse("score --verifier=math --help").help_verifier, "math");
  EXPECT_NE(parse("--build-info").text.find("compiler: "), std::string::npos);
  EXPECT_EQ(parse("--version").text, "maxplus " + version_text() + "\n");
}

TEST(CommandLine, SaysInOneLineWhatIsWrong) {
  const std::vector<std::pair<std::string, std::string>> rows = {
      {"", "no command is given"},
      {"trian d.toml", "unknown command 'trian'; did you mean 'train'?"},
      {"frobnicate", "unknown command 'frobnicate'"},
      {"--quiet train d.toml", "option '--quiet' stands before the command"},
      {"train", "train: DECK is missing"},
      {"train a b", "train: unexpected argument \"b\""},
      {"generate m", "generate: PROMPTS is missing"},
      {"report", "report: RUN... is missing"},
      {"train d --sett a=b", "train: unknown option '--sett'; did you mean '--set'?"},
      {"train d --set", "train: option '--set' has no value"},
      {"train d --temperature 1", "train: unknown option '--temperature'"},
      {"train d --ranks=0 --check", "train: --ranks \"0\" cannot be used"},
      {"train d --ranks two --check", "train: --ranks \"two\" cannot be used"},
      {"train d --ranks 2", "train: --ranks without --check"},
      {"train d --progress fast", "train: --progress \"fast\" cannot be used"},
      {"generate m p --temperature -1", "generate: --temperature \"-1\" cannot be used"},
      {"generate m p --temperature nan", "generate: --temperature \"nan\" cannot be used"},
      {"generate m p --temperature 0", "generate: --temperature 0 with sampling"},
      {"generate m p --samples 1.5", "generate: --samples \"1.5\" cannot be used"},
      {"generate m p --seed 9223372036854775808", "generate: --seed \"9223372036854775808\" cannot be used"},
      {"generate m p --gready", "generate: unknown option '--gready'; did you mean '--greedy'?"},
      {"score f", "score: --verifier is missing"},
      {"advantage f", "advantage: --estimator is missing"},
      {"advantage f --estimator grpo --std x", "advantage: --std \"x\" cannot be used"},
      {"train d -x", "train: unknown option '-x'"},
  };
  for (const auto& [text, found] : rows) EXPECT_EQ(refusal(text), found) << text;
  EXPECT_THROW(parse_command_line({"train", ""}), Error);
  EXPECT_THROW(parse_command_line({"train", "d", "--out", ""}), Error);
}

TEST(CommandLine, BuildInfoNamesWhatAReportNeeds) {
  std::vector<std::string> names;
  for (const auto& [name, value] : build_info()) names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"version", "commit", "changed", "date", "build", "compiler", "flags", "mpi", "hdf5", "kokkos", "backend"}));
}

}  // namespace
}  // namespace maxplus
