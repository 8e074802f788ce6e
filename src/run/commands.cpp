// Dispatch of the commands, and how errors leave the program.
#include "run/commands.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/strings.hpp"
#include "comm/environment.hpp"
#include "deck/deck.hpp"
#include "device/runtime.hpp"
#include "io/hdf5_file.hpp"
#include "rl/algorithms/algorithm.hpp"
#include "run/advantage_lines.hpp"
#include "run/command_line.hpp"
#include "run/convert.hpp"
#include "run/deck_checks.hpp"
#include "run/former_keys.hpp"
#include "run/inputs.hpp"
#include "run/inspect.hpp"
#include "run/judged_programs.hpp"
#include "run/line_commands.hpp"
#include "run/model_commands.hpp"
#include "run/report/report.hpp"
#include "run/role_placement.hpp"
#include "run/rollout_records.hpp"
#include "run/stop_signals.hpp"
#include "run/training_run.hpp"

namespace maxplus {

namespace fs = std::filesystem;

namespace {

void print_error(const Error& error) {
  const std::string text = format_faults(error.faults());
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

// Any exception as the Error it means.
Error as_error(const std::exception_ptr& pointer) {
  try {
    std::rethrow_exception(pointer);
  } catch (const Error& error) {
    return error;
  } catch (const std::bad_alloc&) {
    return Error(ExitCode::os, Fault{"", "memory is used up", "",
                                     "fewer ranks a node or a smaller model; `--check` prints the plan"});
  } catch (const std::filesystem::filesystem_error& error) {
    return Error(ExitCode::io, Fault{error.path1().string(), error.code().message(), "", ""});
  } catch (const std::exception& error) {
    return Error(ExitCode::software, Fault{"", error.what(), "", "report this: it is a bug in maxplus"});
  }
}

// Reads the deck and checks it; all faults of deck, --set and combinations at once.
Deck checked_deck(const CommandLine& line, DeckUse use, int ranks) {
  DeckReading reading =
      use == DeckUse::model ? empty_deck_and_faults(line.set) : read_deck_and_faults(line.deck, line.set);
  if (use == DeckUse::model) reading.deck.model.path = line.model;
  if (reading.faults.empty()) leave_out_former_keys(reading.deck);
  if (!line.problems.empty()) reading.deck.data.eval = line.problems.front();  // a deck without any will do
  check_deck(reading.deck, use, ranks, reading.faults);
  if (use != DeckUse::model) {
    check_named(reading.deck,
                use == DeckUse::train    ? InputsFor::training
                : use == DeckUse::replay ? InputsFor::replay
                                         : InputsFor::evaluation,
                reading.faults);
  }
  if (!reading.faults.empty()) throw Error(ExitCode::config, std::move(reading.faults));
  if (line.out) set_out(reading.deck, *line.out);
  return std::move(reading.deck);
}

// Lines to standard output, and to DIR/COMMAND.jsonl with --out.
void write_lines(const CommandLine& line, const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& one : lines) text += one + "\n";
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    throw Error(ExitCode::io, Fault{"standard output", "could not be written", "", ""});
  }
  if (!line.out) return;
  std::error_code error;
  std::filesystem::create_directories(*line.out, error);
  const std::filesystem::path path = std::filesystem::path(*line.out) / (command_name(line.command) + ".jsonl");
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file)
    throw Error(ExitCode::cannot_create,
                Fault{path.string(), "could not be written", "a folder that can be written", ""});
}

// `places`: of the ranks that a launcher has started; empty without one.
std::string check_text(const CommandLine& line, int ranks, const std::vector<RankPlace>& places) {
  const Deck deck = checked_deck(line, DeckUse::train, ranks);
  const std::unique_ptr<Algorithm> algorithm = make_algorithm(deck.algorithm, deck.generation.max_new_tokens);
  RunInputs inputs = open_inputs(deck, InputsFor::training, nullptr);
  if (deck.warm_start) {
    if (deck.warm_start->stage.empty()) open_demonstrations(deck, inputs, -1, &inputs.notes);
    for (std::size_t s = 0; s < deck.warm_start->stage.size(); ++s)
      open_demonstrations(deck, inputs, static_cast<int>(s), &inputs.notes);
  }
  std::string text = effective_deck(deck) + "\n";
  for (const std::string& note : inputs.notes) text += "# " + note + "\n";
  for (const std::string& sentence : algorithm->describe()) text += "# " + sentence + "\n";
  const std::string table = role_table(deck, role_map_of(deck, ranks), engine_shape(deck, inputs), places);
  for (std::size_t at = 0, end; at < table.size(); at = end + 1) {
    end = table.find('\n', at);
    text += "# " + table.substr(at, end - at) + "\n";
  }
  return text;
}

// `file`: of several; empty: the deck's problems.
std::string evaluation_text(const EvaluationResult& result, CommandLine::Output form, const std::string& file) {
  nlohmann::ordered_json json;
  if (!file.empty()) json["file"] = file;
  json["eval_problems"] = result.problems;
  for (const auto& [name, value] : named_values(result)) json[name] = value;
  if (form == CommandLine::Output::json) return json.dump() + "\n";
  std::string text;
  for (const auto& [name, value] : json.items()) text += fmt::format("{:<26} {}\n", name, value.dump());
  return text;
}

// The rollouts of an evaluation, for people and scripts.
void write_evaluation(const std::string& folder, const EvaluationResult& result) {
  std::error_code error;
  fs::create_directories(folder, error);
  const fs::path path = fs::path(folder) / "rollouts.jsonl";
  fs::remove(path, error);
  JsonLinesWriter file(path);
  for (std::size_t i = 0; i < result.rollouts.size(); ++i)
    file.write(rollout_record(0, result.rollouts[i], result.responses[i]));
  file.sync();
}

// Commands that need no ranks.
int run_alone(const CommandLine& line) {
  switch (line.command) {
    case Command::print:
      std::fputs(line.text.c_str(), stdout);
      if (!line.help_verifier.empty()) std::fputs(verifier_help(line.help_verifier).c_str(), stdout);
      return 0;
    case Command::train: {
      const DeviceRuntime runtime;
      if (launcher_rank() == 0) std::fputs(check_text(line, line.ranks.value_or(1), {}).c_str(), stdout);
      return 0;
    }
    case Command::tokenize:
      write_lines(line, tokenize_lines(checked_deck(line, DeckUse::model, 1), line.file, line.tokenize));
      return 0;
    case Command::score: write_lines(line, score_lines(line)); return 0;
    case Command::advantage: write_lines(line, advantage_lines(line)); return 0;
    case Command::inspect: {
      const DeviceRuntime runtime;
      std::fputs(inspect(line.file, line.output).c_str(), stdout);
      return 0;
    }
    case Command::convert: {
      const DeviceRuntime runtime;
      const std::string text = convert_model(line.file, line.target, line.network, line.output);
      if (line.verbosity != Verbosity::quiet) std::fputs(text.c_str(), stdout);
      return 0;
    }
    case Command::report: {
      const std::vector<fs::path> runs(line.runs.begin(), line.runs.end());
      const fs::path out = line.out ? fs::path(*line.out) : runs.front() / "report";
      ReportOptions options;
      if (line.events == CommandLine::Events::tensorboard) {
        options.tensorboard = line.out ? ReportOptions::TensorBoard::under_out : ReportOptions::TensorBoard::beside_run;
      }
      const Report report = write_report(runs, out, options);
      std::fputs((line.output == CommandLine::Output::json ? report.json() : report.lines()).c_str(), stdout);
      return 0;
    }
    default: break;
  }
  throw Error(ExitCode::software, "a command that needs ranks came to the wrong place");
}

int run_on_ranks(const CommandLine& line, const MpiEnvironment& mpi, const Communicator& world,
                 std::optional<double> seconds_left, const std::shared_ptr<const Broker>& broker) {
  const bool speaks = world.rank() == 0;
  switch (line.command) {
    case Command::train:
    case Command::replay: {
      if (line.mode == TrainMode::check) {
        const std::string text = check_text(line, world.size(), places_of_ranks(world));
        if (speaks) std::fputs(text.c_str(), stdout);
        return 0;
      }
      const DeckUse use = line.command == Command::train ? DeckUse::train : DeckUse::replay;
      TrainingOptions options;
      options.scheduler_seconds_left = seconds_left;
      options.replay_file = line.command == Command::replay ? line.file : "";
      options.gradients_file = line.gradients.value_or("");
      options.recorder = {line.verbosity, line.progress, line.output, command_name(line.command)};
      options.broker = broker;
      TrainingRun run(checked_deck(line, use, world.size()), mpi, world, std::move(options));
      return static_cast<int>(run.run());
    }
    case Command::eval: {
      const Deck deck = checked_deck(line, DeckUse::evaluate, world.size());
      if (speaks && deck.model.path.empty() && line.model.empty())
        std::fputs("maxplus: warning: the deck's network has random weights; --model names a trained one\n", stderr);
      if (line.problems.empty()) {
        const EvaluationResult result = evaluate_deck(deck, line.model, mpi, world, broker);
        if (!speaks) return 0;
        std::fputs(evaluation_text(result, line.output, "").c_str(), stdout);
        if (line.out) write_evaluation(*line.out, result);
        return 0;
      }
      for (const std::string& file : line.problems) {
        Deck asked = deck;
        asked.data.eval = fs::absolute(file).lexically_normal().string();
        const EvaluationResult result = evaluate_deck(asked, line.model, mpi, world, broker);
        if (!speaks) continue;
        std::fputs(evaluation_text(result, line.output, file).c_str(), stdout);
        if (line.out) write_evaluation((fs::path(*line.out) / fs::path(file).stem()).string(), result);
      }
      return 0;
    }
    case Command::generate: {
      Deck deck = checked_deck(line, DeckUse::model, world.size());
      if (line.generate.prompt == GenerateOptions::Prompt::raw) deck.tokenizer.chat_template = "raw";
      const std::vector<std::string> lines = generate_lines(deck, line.file, line.generate, mpi, world);
      if (speaks) write_lines(line, lines);
      return 0;
    }
    case Command::logprob: {
      const Deck deck = checked_deck(line, DeckUse::model, world.size());
      const std::vector<std::string> lines = logprob_lines(deck, line.file, line.temperature, mpi, world);
      if (speaks) write_lines(line, lines);
      return 0;
    }
    default: break;
  }
  throw Error(ExitCode::software, "a command that needs no ranks came to the wrong place");
}

// When every rank failed, rank 0 tells why and all leave in order. When only some did, the others hang in a collective:
// whoever has waited in vain tells its own reason and ends the job.
int leave_with(const Error& error, MPI_Comm farewell) {
  int rank = 0, size = 1;
  MPI_Comm_rank(farewell, &rank);
  MPI_Comm_size(farewell, &size);
  if (rank == 0) print_error(error);
  MPI_Request request;
  MPI_Ibarrier(farewell, &request);
  int all_here = 0;
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  while (!all_here && std::chrono::steady_clock::now() < until) {
    MPI_Test(&request, &all_here, MPI_STATUS_IGNORE);
    if (!all_here) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  if (all_here) return static_cast<int>(error.code());
  if (rank != 0) {
    std::fprintf(stderr, "maxplus: rank %d of %d:\n", rank, size);
    print_error(error);
  }
  MpiEnvironment::abort(static_cast<int>(error.code()));
}

int start_ranks(const CommandLine& line, int* argc, char*** argv) {
  const std::optional<double> seconds_left = line.command == Command::train ? scheduler_seconds_left() : std::nullopt;
  const std::shared_ptr<const Broker> broker = broker_for(line);
  install_stop_signals();
  prepare_hdf5();
  const DeviceRuntime runtime;
  const MpiEnvironment mpi(argc, argv);
  MPI_Comm farewell = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &farewell);
  int code = 0;
  try {
    // MAXPLUS_CHECK_COLLECTIVES, set in tests: every collective first compares its signature on all ranks.
    const bool checked = std::getenv("MAXPLUS_CHECK_COLLECTIVES") != nullptr;
    const Communicator world = mpi.world(checked ? Communicator::Checking::on : Communicator::Checking::off);
    code = run_on_ranks(line, mpi, world, seconds_left, broker);
  } catch (...) {
    code = leave_with(as_error(std::current_exception()), farewell);
  }
  MPI_Comm_free(&farewell);
  return code;
}

}  // namespace

int run_program(int argc, char** argv) {
  try {
    const CommandLine line = parse_command_line(std::vector<std::string>(argv + 1, argv + argc));
    return needs_ranks(line) ? start_ranks(line, &argc, &argv) : run_alone(line);
  } catch (...) {
    const Error error = as_error(std::current_exception());
    // Every rank has the same arguments. A launcher ends the job when its first rank leaves, so rank 0 speaks first.
    if (launcher_rank() == 0) {
      print_error(error);
    } else {
      std::this_thread::sleep_for(std::chrono::seconds(3));
    }
    return static_cast<int>(error.code());
  }
}

}  // namespace maxplus
