#pragma once
// What the registry knows of each verifier: its grammar and its maker, defined in the file of its name.

#include <memory>

#include "verify/verifier.hpp"

namespace maxplus {

extern const char* const kExactGrammar;
extern const char* const kRegexGrammar;
extern const char* const kNumberGrammar;
extern const char* const kMathGrammar;
extern const char* const kChoiceGrammar;
extern const char* const kLanguageGrammar;
extern const char* const kCountdownGrammar;
extern const char* const kFormatGrammar;
extern const char* const kLengthGrammar;
extern const char* const kRandomGrammar;
extern const char* const kOperatorsGrammar;
extern const char* const kWordProblemsGrammar;
extern const char* const kCodeTestsGrammar;
extern const char* const kArithmeticGrammar;
extern const char* const kSortingGrammar;
extern const char* const kLetterCountingGrammar;
extern const char* const kGraphPathsGrammar;
extern const char* const kCommandGrammar;

std::shared_ptr<const Verifier> make_exact_verifier(KeyReader& keys, const VerifierSettings& settings);
std::shared_ptr<const Verifier> make_regex_verifier(KeyReader& keys, const VerifierSettings& settings);
std::shared_ptr<const Verifier> make_number_verifier(KeyReader& keys, const VerifierSettings& settings);
std::shared_ptr<const Verifier> make_math_verifier(KeyReader& keys, const VerifierSettings& settings);
std::shared_ptr<const Verifier> make_choice_verifier(KeyReader& keys, const VerifierSettings& settings);
std::shared_ptr<const Verifier> make_language_verifier(KeyReader& keys, const VerifierSettings& settings);
std::shared_ptr<const Verifier> make_countdown_verifier(KeyReader& keys, const VerifierSettings& settings);
std::shared_ptr<const Verifier> make_format_verifier(KeyReader& keys, const VerifierSettings& settings);
std::shared_ptr<const Verifier> make_length_verifier(KeyReader& keys, const VerifierSettings& settings);
std::shared_ptr<const Verifier> make_random_verifier(KeyReader& keys, const VerifierSettings& settings);
std::shared_ptr<const Verifier> make_operators_verifier(KeyReader& keys, const VerifierSettings& settings);
std::shared_ptr<const Verifier> make_word_problems_verifier(KeyReader& keys, const VerifierSettings& settings);
std::shared_ptr<const Verifier> make_code_tests_verifier(KeyReader& keys, const VerifierSettings& settings);
std::shared_ptr<const Verifier> make_arithmetic_verifier(KeyReader& keys, const VerifierSettings& settings);
std::shared_ptr<const Verifier> make_sorting_verifier(KeyReader& keys, const VerifierSettings& settings);
std::shared_ptr<const Verifier> make_letter_counting_verifier(KeyReader& keys, const VerifierSettings& settings);
std::shared_ptr<const Verifier> make_graph_paths_verifier(KeyReader& keys, const VerifierSettings& settings);
std::shared_ptr<const Verifier> make_command_verifier(KeyReader& keys, const VerifierSettings& settings);

}  // namespace maxplus
