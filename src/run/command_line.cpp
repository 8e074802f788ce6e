// Parsing the command line with CLI11. Each option is named once, with its help and what it does to the result.
#include "run/command_line.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <deque>
#include <functional>
#include <initializer_list>
#include <limits>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/error.hpp"
#include "base/strings.hpp"
#include "deck/deck.hpp"
#include "run/build_info.hpp"
#include "run/command_table.hpp"

namespace maxplus {

namespace {

[[noreturn]] void refuse(std::string found, std::string expected, std::string advice) {
  throw Error(ExitCode::usage, Fault{"", std::move(found), std::move(expected), std::move(advice)});
}

template <class Number>
std::optional<Number> number_of(const std::string& text) {
  Number value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

// The options of one command: CLI11 finds them, the list here explains them and knows their names.
class Options {
 public:
  Options(const CommandEntry& entry) : entry_(entry) {
    app_.set_help_flag();
    app_.allow_extras();
  }

  void value(const std::string& name, const std::string& what, const std::string& meaning,
             std::function<void(const std::string&)> take) {
    lines_.push_back({name, name + " " + what, meaning});
    app_.add_option(name, results_.emplace_back())
        ->expected(1)
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    values_.push_back({name, &results_.back(), std::move(take)});
  }
  void flag(const std::string& name, const std::string& meaning, std::function<void()> take) {
    lines_.push_back({name, name, meaning});
    app_.add_flag_callback(name, std::move(take));
  }
  void whole(const std::string& name, const std::string& meaning, std::int64_t low, std::int64_t high,
             std::function<void(std::int64_t)> take) {
    value(name, "N", meaning, [=, this](const std::string& text) {
      const auto number = number_of<std::int64_t>(text);
      if (!number || *number < low || *number > high)
        bad_value(name, text, fmt::format("a whole number from {} to {}", low, high));
      take(*number);
    });
  }
  void real(const std::string& name, const std::string& meaning, double low, double high,
            std::function<void(double)> take) {
    value(name, "X", meaning, [=, this](const std::string& text) {
      const auto number = number_of<double>(text);
      if (!number || !(*number >= low && *number <= high))
        bad_value(name, text, fmt::format("a number from {} to {}", low, high));
      take(*number);
    });
  }
  void choice(const std::string& name, const std::string& meaning, const std::vector<std::string>& names,
              std::function<void(const std::string&)> take) {
    value(name, join(names, "|"), meaning, [=, this](const std::string& text) {
      if (std::find(names.begin(), names.end(), text) == names.end()) bad_value(name, text, join_choices(names, "or"));
      take(text);
    });
  }

  // The positional arguments.
  std::vector<std::string> parse(std::vector<std::string> arguments) {
    std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back
    try {
      app_.parse(arguments);
    } catch (const CLI::ParseError& error) {
      explain(error, arguments);
    }
    for (const Value& option : values_) {
      for (const std::string& text : *option.results) option.take(text);
    }
    std::vector<std::string> positional;
    for (const std::string& text : app_.remaining()) {
      if (text.size() > 1 && text.front() == '-') unknown_option(text);
      positional.push_back(text);
    }
    return positional;
  }

  std::string help() const {
    std::string text = fmt::format("usage: maxplus {} {} [options]\n\n{}.\n{}\n\noptions:\n", entry_.name,
                                   entry_.arguments, entry_.summary, entry_.lesson);
    for (const Line& line : lines_) text += fmt::format("  {:<28} {}\n", line.usage, line.meaning);
    return text + "\nexample:\n  " + entry_.example + "\n";
  }

 private:
  struct Line {
    std::string name, usage, meaning;
  };
  struct Value {
    std::string name;
    std::vector<std::string>* results;
    std::function<void(const std::string&)> take;
  };

  [[noreturn]] void bad_value(const std::string& name, const std::string& text, const std::string& expected) const {
    refuse(fmt::format("{}: {} {} cannot be used", entry_.name, name, quote(shorten(text, 60))), expected,
           fmt::format("maxplus {} --help", entry_.name));
  }

  [[noreturn]] void unknown_option(const std::string& text) const {
    std::vector<std::string> names;
    for (const Line& line : lines_) names.push_back(line.name);
    const std::string name = shorten(text.substr(0, text.find('=')), 60);
    refuse(fmt::format("{}: unknown option '{}'{}", entry_.name, one_line(name), did_you_mean(name, names)),
           join(names, ", "), fmt::format("maxplus {} --help", entry_.name));
  }

  [[noreturn]] void explain(const CLI::ParseError& error, const std::vector<std::string>&) const {
    std::string text = one_line(error.what());
    const std::string name = text.substr(0, text.find(':'));
    const bool known =
        std::any_of(lines_.begin(), lines_.end(), [&name](const Line& line) { return line.name == name; });
    if (known && dynamic_cast<const CLI::ArgumentMismatch*>(&error)) {
      refuse(fmt::format("{}: option '{}' has no value", entry_.name, name), "a value after it",
             fmt::format("maxplus {} --help", entry_.name));
    }
    refuse(fmt::format("{}: {}", entry_.name, text), "", fmt::format("maxplus {} --help", entry_.name));
  }

  const CommandEntry& entry_;
  CLI::App app_;
  std::vector<Line> lines_;
  std::deque<std::vector<std::string>> results_;
  std::vector<Value> values_;
};

void add_common(Options& options, CommandLine& line) {
  options.value("--set", "TABLE.KEY=VALUE", "put a key of the deck over; may be repeated",
                [&](const std::string& text) { line.set.push_back(text); });
  options.value("--out", "DIR", "folder for what is written", [&](const std::string& text) {
    if (text.empty()) refuse("--out is empty", "a folder", "");
    line.out = text;
  });
  options.flag("--json", "standard output for programs", [&] { line.output = CommandLine::Output::json; });
  options.flag("--quiet", "warnings and errors only", [&] { line.verbosity = Verbosity::quiet; });
  options.choice("--progress", "default: draw on a terminal, else a line now and then", {"draw", "line", "none"},
                 [&](const std::string& text) {
                   line.progress = text == "draw"   ? ProgressStyle::draw
                                   : text == "line" ? ProgressStyle::line
                                                    : ProgressStyle::none;
                 });
}

void add_generate(Options& options, GenerateOptions& g) {
  constexpr std::int64_t kMany = 16'777'216;
  options.flag("--greedy", "the likeliest token each time", [&g] { g.choice = GenerateOptions::Choice::greedy; });
  options.real("--temperature", "of sampling (1)", 0, 1000, [&g](double x) { g.temperature = x; });
  options.real("--top-p", "keep the likeliest tokens up to this mass (1: off)", 0, 1, [&g](double x) { g.top_p = x; });
  options.whole("--top-k", "keep the k likeliest tokens (0: off)", 0, kMany, [&g](std::int64_t n) { g.top_k = n; });
  options.whole("--max-new-tokens", "longest answer (256)", 1, kMany, [&g](std::int64_t n) { g.max_new_tokens = n; });
  options.whole("--samples", "answers a prompt (1)", 1, 1'000'000, [&g](std::int64_t n) { g.samples = n; });
  options.whole("--seed", "of the draws (1)", 0, std::numeric_limits<std::int64_t>::max(),
                [&g](std::int64_t n) { g.seed = n; });
  options.flag("--raw", "no chat template", [&g] { g.prompt = GenerateOptions::Prompt::raw; });
}

void add_advantage(Options& options, AdvantageOptions& a) {
  options.value("--estimator", "NAME", "which rule", [&a](const std::string& text) { a.estimator = text; });
  options.choice("--std", "divide by the standard deviation, or not", {"n", "n-1", "none"},
                 [&a](const std::string& text) { a.std = text; });
  options.choice("--scope", "mean and deviation over what", {"group", "batch"},
                 [&a](const std::string& text) { a.scope = text; });
  options.real("--epsilon", "added to the deviation", 0, 1e6, [&a](double x) { a.epsilon = x; });
  options.real("--gamma", "discount", 0, 1, [&a](double x) { a.gamma = x; });
  options.real("--lambda", "of generalised advantage estimation", 0, 1, [&a](double x) { a.lambda = x; });
}

void add_own(Options& options, CommandLine& line) {
  switch (line.command) {
    case Command::train:
      options.flag("--check",
                   "print the effective deck and the plan, start nothing; started on ranks, also their nodes and cores",
                   [&] { line.mode = TrainMode::check; });
      options.whole("--ranks", "plan for so many ranks, with --check", 1, 1'000'000,
                    [&](std::int64_t n) { line.ranks = static_cast<int>(n); });
      options.flag("--describe", "every table and key of a deck", [&] {});
      break;
    case Command::eval:
      options.value("--model", "PATH", "model or checkpoint (the deck's)",
                    [&](const std::string& text) { line.model = text; });
      options.value("--problems", "FILE", "held-out problems instead of the deck's; may be repeated, each told apart",
                    [&](const std::string& text) { line.problems.push_back(text); });
      break;
    case Command::generate: add_generate(options, line.generate); break;
    case Command::convert:
      options.flag("--critic", "of a checkpoint: the critic, as a classifier with one label",
                   [&] { line.network = CommandLine::Network::critic; });
      break;
    case Command::logprob:
      options.real("--temperature", "of the distribution (1)", 1e-6, 1000, [&](double x) { line.temperature = x; });
      break;
    case Command::tokenize:
      options.flag("--generation-prompt", "end messages with the start of an answer",
                   [&] { line.tokenize.ending = TokenizeOptions::Ending::generation_prompt; });
      options.flag("--no-special", "special tokens in text are plain text",
                   [&] { line.tokenize.special = TokenizeOptions::Special::as_text; });
      break;
    case Command::score:
      options.value("--verifier", "NAME", "the judge", [&](const std::string& text) { line.verifier = text; });
      break;
    case Command::advantage: add_advantage(options, line.advantage); break;
    case Command::replay:
      options.value("--gradients", "FILE", "write the first step's gradients (safetensors)",
                    [&](const std::string& text) { line.gradients = text; });
      break;
    case Command::report:
      options.flag("--tensorboard", "event files for TensorBoard too, in RUN/tensorboard (DIR/tensorboard/NAME)",
                   [&] { line.events = CommandLine::Events::tensorboard; });
      break;
    case Command::inspect:
    case Command::print: break;
  }
  add_common(options, line);
  for (const auto& [name, meaning] : {std::pair("--help", "this text"), std::pair("--version", "version and commit"),
                                      std::pair("--build-info", "compiler, libraries, flags")}) {
    options.flag(name, meaning, [] {});  // taken out before; named here for the help and for slips
  }
}

void place_arguments(const CommandEntry& entry, const std::vector<std::string>& positional, CommandLine& line) {
  const std::vector<std::string> names = split(entry.arguments, ' ');
  const bool many = line.command == Command::report;
  const std::string usage = fmt::format("maxplus {} {}", entry.name, entry.arguments);
  if (positional.size() < names.size()) {
    refuse(fmt::format("{}: {} is missing", entry.name, names[positional.size()]), usage,
           fmt::format("maxplus {} --help", entry.name));
  }
  if (!many && positional.size() > names.size()) {
    refuse(fmt::format("{}: unexpected argument {}", entry.name, quote(shorten(positional[names.size()], 60))), usage,
           fmt::format("maxplus {} --help", entry.name));
  }
  for (std::size_t i = 0; i < positional.size(); ++i) {
    if (positional[i].empty()) refuse(fmt::format("{}: {} is empty", entry.name, many ? "RUN" : names[i]), usage, "");
    if (many) {
      line.runs.push_back(positional[i]);
    } else if (names[i] == "DECK") {
      line.deck = positional[i];
    } else if (names[i] == "MODEL") {
      line.model = positional[i];
    } else if (names[i] == "OUT") {
      line.target = positional[i];
    } else {
      line.file = positional[i];
    }
  }
}

void require_options(const CommandLine& line) {
  if (line.command == Command::score && line.verifier.empty()) {
    refuse("score: --verifier is missing", "the name of a verifier", "--verifier exact");
  }
  if (line.command == Command::advantage && line.advantage.estimator.empty()) {
    refuse("advantage: --estimator is missing", "the name of an estimator", "--estimator grpo");
  }
  if (line.command == Command::train && line.ranks && line.mode != TrainMode::check) {
    refuse("train: --ranks without --check", "the launcher decides on how many ranks a run is started",
           fmt::format("mpirun -n {} maxplus train ..., or add --check", *line.ranks));
  }
  if (line.command == Command::generate && line.generate.choice == GenerateOptions::Choice::sampled &&
      !(line.generate.temperature > 0)) {
    refuse("generate: --temperature 0 with sampling", "a temperature above 0, or --greedy", "--greedy");
  }
}

const CommandEntry* find_command(const std::string& name) {
  const auto& table = command_table();
  const auto found =
      std::find_if(table.begin(), table.end(), [&name](const CommandEntry& e) { return name == e.name; });
  return found == table.end() ? nullptr : &*found;
}

const CommandEntry& require_command(const std::string& name) {
  if (const CommandEntry* entry = find_command(name)) return *entry;
  std::vector<std::string> names;
  for (const CommandEntry& entry : command_table()) names.emplace_back(entry.name);
  const bool option = !name.empty() && name.front() == '-';
  const std::string shown = one_line(shorten(name, 60));
  if (option)
    refuse(fmt::format("option '{}' stands before the command", shown), "maxplus COMMAND ARGUMENTS [options]",
           "maxplus --help");
  refuse(fmt::format("unknown command '{}'{}", shown, did_you_mean(name, names)), join(names, ", "), "maxplus --help");
}

CommandLine printed(std::string text) {
  CommandLine line;
  line.text = std::move(text);
  return line;
}

// Whether a flag stands among the arguments as one: not after "--", and not as the value of --set and the like.
bool has_flag(const std::vector<std::string>& arguments, const std::string& name) {
  const auto end = std::find(arguments.begin(), arguments.end(), "--");
  return std::find(arguments.begin(), end, name) != end;
}

std::string verifier_of(const std::vector<std::string>& arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--verifier" && i + 1 < arguments.size()) return arguments[i + 1];
    if (starts_with(arguments[i], "--verifier=")) return arguments[i].substr(11);
  }
  return {};
}

}  // namespace

bool needs_ranks(const CommandLine& line) {
  switch (line.command) {
    case Command::train: return line.mode == TrainMode::run || (!line.ranks && launcher_ranks() > 1);
    case Command::eval:
    case Command::generate:
    case Command::logprob:
    case Command::replay: return true;
    default: return false;
  }
}

std::string command_name(Command command) {
  for (const CommandEntry& entry : command_table()) {
    if (entry.command == command) return entry.name;
  }
  return "print";
}

CommandLine parse_command_line(const std::vector<std::string>& arguments) {
  if (arguments.empty()) refuse("no command is given", "maxplus COMMAND ARGUMENTS [options]", "maxplus --help");
  const std::string& first = arguments.front();
  std::vector<std::string> rest(arguments.begin() + 1, arguments.end());
  const auto is_help = [](const std::string& text) { return text == "--help" || text == "-h"; };
  if (is_help(first) || (first == "help" && rest.empty())) return printed(general_help());
  if (first == "help") return parse_command_line({rest.front(), "--help"});
  if (first == "--version") return printed("maxplus " + version_text() + "\n");
  if (first == "--build-info") return printed(build_info_text());

  const CommandEntry& entry = require_command(first);
  CommandLine line;
  line.command = entry.command;
  Options options(entry);
  add_own(options, line);
  if (has_flag(rest, "--help") || has_flag(rest, "-h")) {
    CommandLine help = printed(options.help());
    if (entry.command == Command::score) help.help_verifier = verifier_of(rest);
    return help;
  }
  if (has_flag(rest, "--version")) return printed("maxplus " + version_text() + "\n");
  if (has_flag(rest, "--build-info")) return printed(build_info_text());
  if (entry.command == Command::train && has_flag(rest, "--describe")) return printed(describe_keys());
  place_arguments(entry, options.parse(std::move(rest)), line);
  require_options(line);
  return line;
}

namespace {

int first_number(std::initializer_list<const char*> variables, int otherwise) {
  for (const char* name : variables) {
    const char* text = std::getenv(name);
    if (!text) continue;
    if (const auto number = number_of<int>(text)) return *number;
  }
  return otherwise;
}

}  // namespace

int launcher_rank() { return first_number({"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"}, 0); }

int launcher_ranks() { return first_number({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"}, 1); }

}  // namespace maxplus
