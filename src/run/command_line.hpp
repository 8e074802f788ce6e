#pragma once
// The command line as a value: which command, on which paths, with which options. Nothing is opened and MPI is not
// touched.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/log.hpp"

namespace maxplus {

enum class Command {
  print,  // --help, --version, --build-info, --describe: `text` goes to standard output, exit 0
  train,
  eval,
  generate,
  logprob,
  tokenize,
  score,
  advantage,
  replay,
  inspect,
  convert,
  report,
};

enum class ProgressStyle { automatic, draw, line, none };
enum class TrainMode { run, check };

struct GenerateOptions {
  enum class Choice { sampled, greedy } choice = Choice::sampled;
  enum class Prompt { chat_template, raw } prompt = Prompt::chat_template;
  double temperature = 1, top_p = 1;
  std::int64_t top_k = 0, max_new_tokens = 256, samples = 1, seed = 1;
};

struct TokenizeOptions {
  enum class Special { as_special, as_text } special = Special::as_special;
  enum class Ending { none, generation_prompt } ending = Ending::none;
};

struct AdvantageOptions {
  std::string estimator;
  std::optional<std::string> std, scope;  // as in [algorithm]; nullopt: the estimator's own
  std::optional<double> epsilon, gamma, lambda;
};

struct CommandLine {
  Command command = Command::print;
  std::string text;           // of Command::print
  std::string help_verifier;  // `score --verifier NAME --help`: the grammar of this verifier follows the text

  std::string deck;                   // DECK of train, eval, replay
  std::vector<std::string> problems;  // --problems of eval
  std::string model;                  // MODEL of generate, logprob, tokenize; --model of eval, else empty
  std::string file;                   // PROMPTS, FILE or IN
  std::string target;                 // OUT of convert
  std::vector<std::string> runs;      // RUN... of report

  std::vector<std::string> set;  // "table.key=value", in order
  std::optional<std::string> out;
  enum class Output { human, json } output = Output::human;
  Verbosity verbosity = Verbosity::normal;
  ProgressStyle progress = ProgressStyle::automatic;

  TrainMode mode = TrainMode::run;
  std::optional<int> ranks;  // of --check: plan for so many
  double temperature = 1;    // of logprob
  GenerateOptions generate;
  TokenizeOptions tokenize;
  std::string verifier;  // of score
  AdvantageOptions advantage;
  std::optional<std::string> gradients;                             // of replay
  enum class Network { policy, critic } network = Network::policy;  // of convert
  enum class Events { none, tensorboard } events = Events::none;    // of report
};

// Whether the command's work is shared by the ranks of MPI; the others never call MPI_Init (nor does `train --check`
// without a launcher of several ranks).
bool needs_ranks(const CommandLine& line);
std::string command_name(Command command);

// `arguments` without the program's name. Throws Error(ExitCode::usage) with one fault.
CommandLine parse_command_line(const std::vector<std::string>& arguments);

// This process's rank as its launcher tells it in the environment, before MPI is started: who prints. 0 without a
// launcher.
int launcher_rank();
// How many there are, likewise; 1 without a launcher.
int launcher_ranks();

}  // namespace maxplus
