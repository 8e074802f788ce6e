#include "roles/evaluation.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include <fmt/format.h>

#include "base/error.hpp"
#include "roles/exchange.hpp"

namespace maxplus {

namespace {

struct Judged {
  std::vector<Experience> experiences;
  bool abandoned = false;
};

// Draws and judges the problems dealt to this rank, `draws` times each.
Judged draw_and_judge(const EvaluationRequest& request, const GenerationRule& rule, std::int64_t draws,
                      std::uint32_t attempt, Generator& generator, Assessor& assessor, const Communicator& ranks,
                      const StopRequest& stop) {
  std::vector<GenerationRequest> asked;
  for (std::int64_t i : dealt_to_rank(static_cast<std::int64_t>(request.problems.size()), ranks.rank(), ranks.size())) {
    GenerationRequest group;
    group.problem = &request.problems[static_cast<std::size_t>(i)];
    group.group = i;
    for (std::int64_t k = 0; k < draws; ++k) {
      group.ids.push_back({request.iteration, attempt, static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(k)});
    }
    asked.push_back(std::move(group));
  }
  const std::vector<Rollout> rollouts = generator.generate(asked, rule, stop);
  std::vector<const Problem*> problems;
  for (const GenerationRequest& group : asked) problems.insert(problems.end(), group.ids.size(), group.problem);
  const bool stopped_here =
      std::any_of(rollouts.begin(), rollouts.end(), [](const Rollout& r) { return r.finish == Finish::aborted; });
  Judged judged;
  judged.abandoned = ranks.any(stopped_here);
  if (judged.abandoned) return judged;
  const std::vector<Assessment> assessments = assessor.assess(problems, rollouts, stop);
  for (std::size_t i = 0; i < rollouts.size(); ++i)
    judged.experiences.push_back({*problems[i], rollouts[i], assessments[i], {}});
  return judged;
}

}  // namespace

std::string crashes_among(std::span<const Experience> experiences) {
  const auto crashed = [](const Experience& e) { return e.assessment.verdict == Verdict::crashed; };
  const auto first = std::find_if(experiences.begin(), experiences.end(), crashed);
  if (first == experiences.end()) return "";
  return fmt::format("{} of {} judgements crashed; the first ({}): {}",
                     std::count_if(first, experiences.end(), crashed), experiences.size(), first->rollout.id.text(),
                     first->assessment.extracted);
}

std::pair<double, double> wilson_interval(std::int64_t n, std::int64_t c) {
  MAXPLUS_REQUIRE(n >= 1 && c >= 0 && c <= n, "a share needs 0 <= c <= n");
  constexpr double kDeviations = 1.959963984540054;  // of the normal distribution, 95 % two-sided
  const double count = static_cast<double>(n), share = static_cast<double>(c) / count;
  const double square = kDeviations * kDeviations / count;
  const double centre = (share + square / 2) / (1 + square);
  const double half = kDeviations * std::sqrt(share * (1 - share) / count + square / (4 * count)) / (1 + square);
  return {c == 0 ? 0.0 : centre - half, c == n ? 1.0 : centre + half};
}

bool majority_is_right(std::span<const Assessment* const> draws) {
  struct Votes {
    const Assessment* first;
    std::int64_t count;
  };
  std::vector<Votes> votes;
  for (const Assessment* draw : draws) {
    if (!counts(draw->verdict) || draw->extracted.empty()) continue;
    const auto same =
        std::find_if(votes.begin(), votes.end(), [&](const Votes& v) { return v.first->extracted == draw->extracted; });
    if (same == votes.end()) {
      votes.push_back({draw, 1});
    } else {
      ++same->count;
    }
  }
  const auto most =
      std::max_element(votes.begin(), votes.end(), [](const Votes& a, const Votes& b) { return a.count < b.count; });
  return most != votes.end() && most->first->verdict == Verdict::correct;
}

std::vector<std::pair<std::string, double>> named_values(const EvaluationResult& result) {
  std::vector<std::pair<std::string, double>> values;
  const auto add = [&values](std::string name, const std::optional<double>& value) {
    if (value) values.emplace_back(std::move(name), *value);
  };
  add("eval_accuracy", result.accuracy);
  add("eval_accuracy_low", result.accuracy_low);
  add("eval_accuracy_high", result.accuracy_high);
  for (const auto& [tokens, value] : result.accuracy_within) add(fmt::format("eval_accuracy_within_{}", tokens), value);
  add("eval_response_length_mean", result.response_length_mean);
  add("eval_truncated_share", result.truncated_share);
  add("eval_accuracy_sampled", result.accuracy_sampled);
  for (const auto& [k, value] : result.pass_at) add(fmt::format("eval_pass_at_{}", k), value);
  add(fmt::format("eval_majority_at_{}", result.samples), result.majority);
  return values;
}

double pass_at_k(std::int64_t n, std::int64_t c, std::int64_t k) {
  MAXPLUS_REQUIRE(k >= 1 && k <= n && c >= 0 && c <= n, "pass@k needs 1 <= k <= n and 0 <= c <= n");
  if (n - c < k) return 1.0;
  double none = 1.0;
  for (std::int64_t i = n - c + 1; i <= n; ++i) none *= 1.0 - static_cast<double>(k) / static_cast<double>(i);
  return 1.0 - none;
}

EvaluationResult evaluate(const EvaluationRequest& request, Generator& generator, Assessor& assessor,
                          const Communicator& ranks, const StopRequest& stop) {
  EvaluationResult result;
  result.problems = static_cast<std::int64_t>(request.problems.size());
  Judged greedy = draw_and_judge(request, request.greedy, 1, 0, generator, assessor, ranks, stop);
  result.abandoned = greedy.abandoned;
  if (result.abandoned) return result;
  std::int64_t sums[4] = {0, 0, 0, 0};  // correct, counting, tokens, truncated
  for (const Experience& e : greedy.experiences) {
    sums[0] += e.assessment.verdict == Verdict::correct ? 1 : 0;
    sums[1] += counts(e.assessment.verdict) ? 1 : 0;
    sums[2] += static_cast<std::int64_t>(e.rollout.token.size());
    sums[3] += e.rollout.finish == Finish::length ? 1 : 0;
  }
  ranks.sum(std::span<std::int64_t>(sums));
  if (sums[1] > 0) {
    result.accuracy = static_cast<double>(sums[0]) / static_cast<double>(sums[1]);
    std::tie(result.accuracy_low, result.accuracy_high) = wilson_interval(sums[1], sums[0]);
  }
  std::vector<std::int64_t> within(request.token_budgets.size(), 0);
  for (const Experience& e : greedy.experiences) {
    for (std::size_t b = 0; b < within.size(); ++b)
      within[b] += e.assessment.verdict == Verdict::correct && std::ssize(e.rollout.token) <= request.token_budgets[b];
  }
  ranks.sum(std::span<std::int64_t>(within));
  for (std::size_t b = 0; b < within.size() && sums[1] > 0; ++b)
    result.accuracy_within[request.token_budgets[b]] = static_cast<double>(within[b]) / static_cast<double>(sums[1]);
  if (result.problems > 0) {
    result.response_length_mean = static_cast<double>(sums[2]) / static_cast<double>(result.problems);
    result.truncated_share = static_cast<double>(sums[3]) / static_cast<double>(result.problems);
  }
  if (request.keep == EvaluationRequest::Keep::rollouts)
    result.rollouts = exchange_experiences(ranks, greedy.experiences);

  if (request.sampled && request.samples > 0) {
    Judged sampled = draw_and_judge(request, *request.sampled, request.samples, 1, generator, assessor, ranks, stop);
    result.abandoned = sampled.abandoned;
    if (result.abandoned) return result;
    // Right and counting draws of each problem, on all ranks alike; sums over problems are then in problem order.
    std::vector<std::int64_t> right(request.problems.size() * 2, 0);
    for (const Experience& e : sampled.experiences) {
      right[2 * e.rollout.id.slot] += e.assessment.verdict == Verdict::correct ? 1 : 0;
      right[2 * e.rollout.id.slot + 1] += counts(e.assessment.verdict) ? 1 : 0;
    }
    ranks.sum(std::span<std::int64_t>(right));
    result.samples = request.samples;
    std::int64_t votes[2] = {0, 0};  // problems whose majority is right, problems with a draw that counts
    for (std::size_t first = 0, last = 0; first < sampled.experiences.size(); first = last) {
      std::vector<const Assessment*> draws;
      bool counting = false;
      const auto slot = sampled.experiences[first].rollout.id.slot;
      for (; last < sampled.experiences.size() && sampled.experiences[last].rollout.id.slot == slot; ++last) {
        draws.push_back(&sampled.experiences[last].assessment);
        counting = counting || counts(draws.back()->verdict);
      }
      votes[0] += majority_is_right(draws) ? 1 : 0;
      votes[1] += counting ? 1 : 0;
    }
    ranks.sum(std::span<std::int64_t>(votes));
    if (votes[1] > 0) result.majority = static_cast<double>(votes[0]) / static_cast<double>(votes[1]);
    std::int64_t all_right = 0, all_counting = 0;
    for (std::size_t i = 0; i < right.size(); i += 2) all_right += right[i], all_counting += right[i + 1];
    if (all_counting > 0) result.accuracy_sampled = static_cast<double>(all_right) / static_cast<double>(all_counting);
    for (std::int64_t k = 1; k <= request.samples; k *= 2) {
      double sum = 0;
      std::int64_t problems = 0;
      for (std::size_t i = 0; i < right.size(); i += 2) {
        if (right[i + 1] < k) continue;
        sum += pass_at_k(right[i + 1], right[i], k);
        ++problems;
      }
      if (problems > 0) result.pass_at[k] = sum / static_cast<double>(problems);
    }
    if (request.keep == EvaluationRequest::Keep::rollouts) {
      std::vector<Experience> drawn = exchange_experiences(ranks, sampled.experiences);
      std::move(drawn.begin(), drawn.end(), std::back_inserter(result.rollouts));
    }
  }
  return result;
}

}  // namespace maxplus
