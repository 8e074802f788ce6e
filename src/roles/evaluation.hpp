#pragma once
// Evaluation on held-out problems: greedy, and sampled at a temperature, by the same engine and verifiers as training.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "comm/communicator.hpp"
#include "rl/sample.hpp"
#include "roles/assessor.hpp"
#include "roles/generator.hpp"

namespace maxplus {

struct EvaluationRequest {
  std::span<const Problem> problems;
  GenerationRule greedy;                  // sampling.greedy is set
  std::optional<GenerationRule> sampled;  // with `samples` draws a problem
  std::int64_t samples = 0;
  std::vector<std::int64_t> token_budgets;
  std::uint32_t iteration = 0;  // names the draws: they depend on it and on nothing that ran before
  enum class Keep { counts_only, rollouts } keep = Keep::counts_only;
};

struct EvaluationResult {
  std::int64_t problems = 0;
  std::int64_t samples = 0;                           // drawn a problem
  std::optional<double> accuracy;                     // greedy: correct / (problems - gold_unusable - crashed)
  std::optional<double> accuracy_sampled;             // the mean over all draws that count
  std::optional<double> accuracy_low, accuracy_high;  // of the greedy one: Wilson's interval of 95 %
  // The share of problems whose most frequent answer among the draws is right: texts that the verifier took as answers,
  // of equal numbers the one drawn first; without any answer it is wrong.
  std::optional<double> majority;
  std::map<std::int64_t, double> pass_at;          // k = 1, 2, 4, ... up to samples, unbiased
  std::map<std::int64_t, double> accuracy_within;  // of greedy answers, those of more tokens being wrong
  double response_length_mean = 0;                 // greedy
  double truncated_share = 0;                      // greedy: ended at the length limit
  bool abandoned = false;                          // a stop was asked for on some rank
  std::vector<Experience> rollouts;                // greedy ones, then sampled ones, by id; only with Keep::rollouts
  std::vector<std::string> responses;              // their texts, filled by whoever knows the tokenizer
};

// Collective. Problems are dealt to the ranks; the result is the same on every rank and any number of them.
EvaluationResult evaluate(const EvaluationRequest& request, Generator& generator, Assessor& assessor,
                          const Communicator& ranks, const StopRequest& stop);

// The numbers of a result under their published names ("eval_accuracy", ...), whole ones apart.
std::vector<std::pair<std::string, double>> named_values(const EvaluationResult& result);

// Of those whose verdict is `crashed`: how many, and why the first; empty if there are none.
std::string crashes_among(std::span<const Experience> experiences);

// The interval of a share, c out of n, that holds the true one in 95 of 100 cases (Wilson, 1927).
std::pair<double, double> wilson_interval(std::int64_t n, std::int64_t c);

// Whether the most frequent of these answers is right. Draws of one problem in their order.
bool majority_is_right(std::span<const Assessment* const> draws);

// 1 - C(n - c, k) / C(n, k): the chance that k draws without replacement out of n, c of them right, hold a right one.
double pass_at_k(std::int64_t n, std::int64_t c, std::int64_t k);

}  // namespace maxplus
