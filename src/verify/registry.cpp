// The registry of verifiers: names, published grammars, and how one is made from a deck's keys.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "text/utf8.hpp"
#include "verify/all_verifiers.hpp"
#include "verify/verifier.hpp"

namespace maxplus {

namespace {

const VerifierEntry* find_verifier(std::string_view name) {
  for (const VerifierEntry& entry : verifiers()) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

Fault unknown_verifier(std::string_view name, const std::string& where) {
  std::vector<std::string> names;
  for (const VerifierEntry& entry : verifiers()) names.emplace_back(entry.name);
  const std::string near = nearest_name(name, names);
  return {where,
          fmt::format("unknown verifier {}{}", in_quotes(name),
                      near.empty() ? "" : fmt::format("; did you mean '{}'?", near)),
          fmt::format("one of {}", fmt::join(names, ", ")),
          near.empty() ? "choose one of them" : fmt::format("verifier = \"{}\"", near)};
}

}  // namespace

const std::vector<VerifierEntry>& verifiers() {
  static const std::vector<VerifierEntry> entries = {
      {"exact", kExactGrammar, make_exact_verifier},
      {"regex", kRegexGrammar, make_regex_verifier},
      {"number", kNumberGrammar, make_number_verifier},
      {"math", kMathGrammar, make_math_verifier},
      {"choice", kChoiceGrammar, make_choice_verifier},
      {"countdown", kCountdownGrammar, make_countdown_verifier},
      {"format", kFormatGrammar, make_format_verifier},
      {"length", kLengthGrammar, make_length_verifier},
      {"language", kLanguageGrammar, make_language_verifier},
      {"random", kRandomGrammar, make_random_verifier},
      {"operators", kOperatorsGrammar, make_operators_verifier},
      {"word_problems", kWordProblemsGrammar, make_word_problems_verifier},
      {"code_tests", kCodeTestsGrammar, make_code_tests_verifier},
      {"arithmetic", kArithmeticGrammar, make_arithmetic_verifier},
      {"sorting", kSortingGrammar, make_sorting_verifier},
      {"letter_counting", kLetterCountingGrammar, make_letter_counting_verifier},
      {"graph_paths", kGraphPathsGrammar, make_graph_paths_verifier},
      {"command", kCommandGrammar, make_command_verifier},
  };
  return entries;
}

std::shared_ptr<const Verifier> make_verifier(std::string_view name, const nlohmann::json& keys,
                                              const VerifierSettings& settings, std::string_view table,
                                              const Locate& locate) {
  const VerifierEntry* entry = find_verifier(name);
  if (entry == nullptr)
    throw Error(ExitCode::config, unknown_verifier(name, locate ? locate("verifier") : std::string()));
  KeyReader reader(keys, fmt::format("{} verifier = \"{}\"", table, name), locate);
  auto verifier = entry->make(reader, settings);
  reader.refuse_unknown();
  if (!reader.faults().empty()) throw Error(ExitCode::config, reader.faults());
  MAXPLUS_REQUIRE(verifier != nullptr, fmt::format("verifier {} without faults", name));
  return verifier;
}

std::string describe_verifier(std::string_view name) {
  const VerifierEntry* entry = find_verifier(name);
  if (entry == nullptr) throw Error(ExitCode::usage, unknown_verifier(name, ""));
  const nlohmann::json none = nlohmann::json::object();
  KeyReader reader(none, std::string(name), Locate());
  entry->make(reader, VerifierSettings());
  std::string text = fmt::format("{}\n\n{}\n", name, entry->grammar);
  text += reader.descriptions().empty() ? "\nIt has no keys.\n"
                                        : "\nKeys (in the deck under [reward], here --set reward.KEY=VALUE):\n";
  for (const KeyDescription& key : reader.descriptions()) {
    text += fmt::format("  {} ({}, default {}): {}\n", key.name, key.kind, key.standard, key.meaning);
  }
  return text;
}

Assessment judged(Verdict verdict, std::string extracted) {
  Assessment assessment;
  assessment.verdict = verdict;
  assessment.reward = verdict == Verdict::correct ? 1.0F : 0.0F;
  assessment.extracted = std::move(extracted);
  return assessment;
}

}  // namespace maxplus
