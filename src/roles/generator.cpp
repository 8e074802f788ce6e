#include "roles/generator.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "base/exact_math.hpp"
#include "base/timer.hpp"
#include "ops/attention.hpp"
#include "ops/elementwise.hpp"
#include "ops/logprob.hpp"

namespace maxplus {

namespace {

constexpr auto kTurnPatience = std::chrono::milliseconds(20);  // then signals are looked at

std::int64_t pages_of(std::int64_t tokens) { return (tokens + ops::kPageTokens - 1) / ops::kPageTokens; }

// Prompts whose members may wait for rows at the same time: they are prefilled when fewer members wait than rows exist.
std::int64_t waiting_prompts(const Generator::Limits& limits) {
  return limits.rows / std::max<std::int64_t>(1, limits.group_size) + 2;
}

// How many first tokens all prompts have in common, in whole pages, so that each prompt has at least one of its own.
std::int64_t common_tokens(std::span<const GenerationRequest> requests) {
  if (requests.size() < 2) return 0;
  const std::vector<std::int32_t>& first = requests.front().problem->prompt;
  auto common = static_cast<std::int64_t>(first.size());
  for (const GenerationRequest& request : requests) common = common_beginning(first, request.problem->prompt, common);
  return common / ops::kPageTokens * ops::kPageTokens;
}

}  // namespace

std::int64_t forced_length(const GenerationRule& rule, const RolloutId& id, std::int64_t problem) {
  if (!(rule.force_length_sigma > 0)) return rule.force_length;
  constexpr double kTurn = 6.283185307179586;
  // Box and Muller (1958), with a first number that is never 0.
  const auto normal_of = [&rule](std::uint64_t what, std::uint64_t draw) {
    const auto u = [&](std::uint64_t which) {
      return uniform_double(rule.seed, Purpose::forced_length, what, draw + which);
    };
    return std::sqrt(-2 * exact_log(1 - u(0))) * exact_cos(kTurn * u(1));
  };
  double normal = normal_of(id.packed(), 0);
  if (rule.force_length_shared > 0) {
    normal = std::sqrt(1 - rule.force_length_shared) * normal +
             std::sqrt(rule.force_length_shared) * normal_of(static_cast<std::uint64_t>(problem), 2);
  }
  const double length = static_cast<double>(rule.force_length) * exact_exp(rule.force_length_sigma * normal);
  return std::clamp<std::int64_t>(std::llround(std::min(length, 1e15)), 1, rule.max_new_tokens);
}

std::int64_t Generator::pages(const Limits& limits) {
  return limits.rows * pages_of(limits.prompt_tokens + limits.new_tokens) +
         waiting_prompts(limits) * pages_of(limits.prompt_tokens) + limits.rows;
}

std::int64_t Generator::rows_asked(const Limits& limits) { return std::max(limits.rows, waiting_prompts(limits)); }

Generator::Generator(Transformer& transformer, const Limits& limits, const Stream& stream, Arena& arena)
    : transformer_(transformer), limits_(limits), stream_(stream), cache_(transformer.config(), pages(limits), arena) {
  const std::int64_t rows = rows_asked(limits);
  row_maximum_ = arena.take(DType::f32, {rows});
  row_log_sum_ = arena.take(DType::f32, {rows});
  entropy_ = arena.take(DType::f32, {rows});
  uniform_ = arena.take(DType::f32, {rows});
  token_ = arena.take(DType::i32, {rows});
  log_prob_ = arena.take(DType::f32, {rows});
  scratch_ = arena.take(DType::f32, {ops::sampling_scratch(stream, transformer.config().vocabulary)});
}

std::vector<Rollout> Generator::generate(std::span<const GenerationRequest> requests, const GenerationRule& rule,
                                         const StopRequest& stop, const RequestDone& done) {
  const Timer timer;
  cache_.reset();
  common_ = {};
  rows_.clear();
  calling_.clear();
  problem_.clear();
  request_of_.clear();
  asked_.clear();
  done_ = done;
  prompts_.clear();
  waiting_.clear();
  bounds_.clear();
  ended_ = 0;
  std::vector<Rollout> rollouts;
  take_on(requests, rule, &rollouts);
  rollouts_ = &rollouts;
  has_surplus_ = false;
  const std::size_t total = rollouts.size();

  turns_.reset();
  if (rule.environment != nullptr) {
    MAXPLUS_REQUIRE(rule.tokenizer != nullptr, "an environment needs a tokenizer");
    MAXPLUS_REQUIRE(rule.token_budget == 0 && !rule.pause, "the turns of a parked rollout are not kept");
    turns_ = std::make_unique<Turns>(*rule.environment, *rule.tokenizer, total);
  }

  const std::int64_t common = common_tokens(requests);
  if (common > 0) {
    const std::vector<std::int32_t>& prompt = requests.front().problem->prompt;
    MAXPLUS_REQUIRE(common < limits_.prompt_tokens, "prompt length beyond the generator's limits");
    compute_until(0, common_, std::span(prompt).first(static_cast<std::size_t>(common)));
  }

  std::size_t next_request = 0, next_rollout = 0;
  counters_.seconds_to_ninety_percent = 0;
  bool abandoned = false, paused = false;
  while (next_request < requests.size() || !waiting_.empty() || rows_in_use() > 0) {
    if (stop && stop()) {
      abandoned = true;
      break;
    }
    if (rule.pause && rule.pause()) {
      paused = true;
      break;
    }
    end_surplus(&rollouts);
    if (next_request < requests.size() && rows_in_use() + static_cast<std::int64_t>(waiting_.size()) < limits_.rows) {
      prefill(requests, rule, &next_request, &next_rollout, &rollouts);
    }
    admit(rollouts);
    if (turns_) exchange_turns(rule, &rollouts);
    if (!rows_.empty()) decode_step(rule, &rollouts);
    if (counters_.seconds_to_ninety_percent == 0 && ended_ * 10 >= static_cast<std::int64_t>(total) * 9) {
      counters_.seconds_to_ninety_percent = timer.seconds();
    }
  }
  done_ = {};
  rollouts_ = nullptr;
  counters_.seconds = timer.seconds();
  cache_.release(common_);
  if (abandoned || paused) cache_.reset();
  if (paused) {
    for (Rollout& rollout : rollouts) {
      if (rollout.finish == Finish::aborted) rollout.finish = Finish::parked;
    }
  }
  return rollouts;
}

// Lists the members of all requests; those that ended in an earlier call are done with.
void Generator::take_on(std::span<const GenerationRequest> requests, const GenerationRule& rule,
                        std::vector<Rollout>* rollouts) {
  std::size_t total = 0;
  for (const GenerationRequest& request : requests) total += request.ids.size();
  rollouts->reserve(total);
  for (const GenerationRequest& request : requests) {
    const bool begun = !request.begun.empty();
    MAXPLUS_REQUIRE(!begun || request.begun.size() == request.ids.size(), "a group goes on with other members");
    asked_.push_back({rollouts->size(), request.ids.size(), request.ids.size(), false, request.wanted});
    for (std::size_t i = 0; i < request.ids.size(); ++i) {
      Rollout rollout = begun ? request.begun[i] : Rollout();
      if (!begun || rollout.finish == Finish::parked) {
        rollout.finish = Finish::aborted;
      } else {
        --asked_.back().open;
        ++ended_;
      }
      rollout.id = request.ids[i];
      rollout.problem = request.problem->id;
      rollout.group = request.group;
      problem_.push_back(request.problem);
      request_of_.push_back(asked_.size() - 1);
      Bounds bounds;
      bounds.end =
          request.max_new_tokens > 0 ? std::min(request.max_new_tokens, rule.max_new_tokens) : rule.max_new_tokens;
      if (rule.force_length > 0) bounds.end = forced_length(rule, rollout.id, rollout.problem);
      bounds.park = rule.token_budget > 0 ? std::ssize(rollout.token) + rule.token_budget : bounds.end;
      bounds_.push_back(bounds);
      rollouts->push_back(std::move(rollout));
    }
    MAXPLUS_REQUIRE(asked_.back().open > 0, "a group that has ended is drawn once more");
  }
}

// Reserves pages for `tokens` and computes pieces of them until at most `most` are left, which it returns.
std::span<const std::int32_t> Generator::compute_until(std::int64_t most, KvCache::Sequence& sequence,
                                                       std::span<const std::int32_t> tokens) {
  MAXPLUS_REQUIRE(cache_.reserve(sequence, static_cast<std::int64_t>(tokens.size())), "no page for a prompt");
  counters_.tokens_processed += static_cast<std::int64_t>(tokens.size());
  while (static_cast<std::int64_t>(tokens.size()) > most) {
    const std::size_t count = std::min(tokens.size(), static_cast<std::size_t>(limits_.prefill_tokens));
    const Transformer::Extension piece{&sequence, tokens.first(count)};
    transformer_.extend(cache_, {&piece, 1});
    tokens = tokens.subspan(count);
  }
  return tokens;
}

void Generator::prefill(std::span<const GenerationRequest> requests, const GenerationRule& rule,
                        std::size_t* next_request, std::size_t* next_rollout, std::vector<Rollout>* rollouts) {
  // As many whole prompts as fit the rows, the room for waiting prompts and one computation.
  std::vector<std::size_t> chosen;
  std::int64_t members = rows_in_use() + static_cast<std::int64_t>(waiting_.size()), tokens = 0;
  std::size_t live = 0;
  for (const Prompt& prompt : prompts_) live += prompt.members_left > 0 ? 1 : 0;
  for (std::size_t r = *next_request; r < requests.size(); ++r) {
    const auto length = static_cast<std::int64_t>(requests[r].problem->prompt.size());
    MAXPLUS_REQUIRE(length >= 1 && length <= limits_.prompt_tokens, "prompt length beyond the generator's limits");
    const bool first = chosen.empty();
    const std::int64_t own = length - common_.length;
    if (!first && (members >= limits_.rows || tokens + own > limits_.prefill_tokens)) break;
    if (static_cast<std::int64_t>(live + chosen.size()) >= waiting_prompts(limits_)) break;
    chosen.push_back(r);
    members += static_cast<std::int64_t>(asked_[r].open);
    tokens += own;
  }
  if (chosen.empty()) return;

  std::vector<std::size_t> prompt_of(chosen.size());
  std::vector<Transformer::Extension> extensions;
  const std::size_t before = prompts_.size();
  prompts_.resize(before + chosen.size());
  TensorView logits;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    prompt_of[i] = before + i;
    const std::span<const std::int32_t> tokens_of_prompt(requests[chosen[i]].problem->prompt);
    Prompt& prompt = prompts_[prompt_of[i]];
    prompt.members_left = static_cast<std::int64_t>(asked_[chosen[i]].open);
    // The common tokens fill whole pages, so that a fork takes none.
    cache_.fork(stream_, common_, prompt.sequence);
    // A prompt longer than one computation goes through in pieces; it then is the only one chosen.
    const auto rest = compute_until(limits_.prefill_tokens, prompt.sequence,
                                    tokens_of_prompt.subspan(static_cast<std::size_t>(common_.length)));
    extensions.push_back({&prompt.sequence, rest});
  }
  logits = transformer_.extend(cache_, extensions);

  // The first token of every new member from its prompt's last row.
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const GenerationRequest& request = requests[chosen[i]];
    const TensorView row = logits.rows(static_cast<std::int64_t>(i), 1);
    for (const RolloutId& id : request.ids) {
      const std::size_t member = (*next_rollout)++;
      Rollout& rollout = (*rollouts)[member];
      if (rollout.finish != Finish::aborted) continue;
      if (!rollout.token.empty()) {
        waiting_.push_back({member, prompt_of[i]});
        continue;
      }
      std::int32_t token = 0;
      float log_prob = 0;
      const float u = uniform(rule.seed, rule.purpose, id.packed(), 0);
      draw(row, {&u, 1}, rule, {&token, 1}, {&log_prob, 1});
      ++counters_.tokens_generated;
      if (append(&rollout, bounds_[member], token, log_prob, rule)) {
        end_rollout(member, *rollouts);
        if (--prompts_[prompt_of[i]].members_left == 0) cache_.release(prompts_[prompt_of[i]].sequence);
      } else {
        waiting_.push_back({member, prompt_of[i]});
      }
    }
  }
  *next_request = chosen.back() + 1;
}

void Generator::admit(const std::vector<Rollout>& rollouts) {
  while (!waiting_.empty() && rows_in_use() < limits_.rows) {
    const Waiting member = waiting_.front();
    Prompt& prompt = prompts_[member.prompt];
    Row row;
    row.rollout = member.rollout;
    row.prompt_length = prompt.sequence.length;
    const std::span<const std::int32_t> tokens(rollouts[member.rollout].token);
    MAXPLUS_REQUIRE(!tokens.empty(), "a member waits without its first token");
    MAXPLUS_REQUIRE(cache_.fork(stream_, prompt.sequence, row.sequence), "no page for a fork");
    // Of one that was parked: all but the newest token, which the next decoding step computes.
    if (tokens.size() > 1) compute_until(0, row.sequence, tokens.first(tokens.size() - 1));
    rows_.push_back(std::move(row));
    waiting_.pop_front();
    if (--prompt.members_left == 0) cache_.release(prompt.sequence);
  }
}

void Generator::end_row(Row& row, const std::vector<Rollout>& rollouts) {
  cache_.release(row.sequence);
  end_rollout(row.rollout, rollouts);
}

void Generator::end_rollout(std::size_t rollout, const std::vector<Rollout>& rollouts) {
  ++ended_;
  const std::size_t request = request_of_[rollout];
  Asked& asked = asked_[request];
  if (rollouts[rollout].finish != Finish::surplus) find_last(&asked, rollouts);
  asked.parked = asked.parked || rollouts[rollout].finish == Finish::parked;
  if (--asked.open == 0 && !asked.parked && done_)
    done_(request, std::span(rollouts).subspan(asked.first, asked.count));
}

// Takes rows with a new call out of the batch, and puts those back that were answered. Each row was decoded once since
// the last time.
void Generator::exchange_turns(const GenerationRule& rule, std::vector<Rollout>* rollouts) {
  std::vector<Row> still_calling, decoded;
  for (Row& row : rows_) {
    Rollout& rollout = (*rollouts)[row.rollout];
    switch (turns_->look(row.rollout, *problem_[row.rollout], rollout)) {
      case Turns::Found::nothing: decoded.push_back(std::move(row)); break;
      case Turns::Found::call: calling_.push_back(std::move(row)); break;
      case Turns::Found::one_too_many:
        rollout.finish = Finish::budget;
        end_row(row, *rollouts);
        break;
    }
  }
  if (decoded.empty() && !calling_.empty()) turns_->wait(calling_.front().rollout, kTurnPatience);
  for (Row& row : calling_) {
    Rollout& rollout = (*rollouts)[row.rollout];
    std::optional<Turns::Continuation> more = turns_->take(row.rollout, rollout);
    if (!more) {
      still_calling.push_back(std::move(row));
    } else if (go_on(row, std::move(*more), rule, &rollout)) {
      decoded.push_back(std::move(row));
    } else {
      end_row(row, *rollouts);
    }
  }
  rows_ = std::move(decoded);
  calling_ = std::move(still_calling);
}

bool Generator::go_on(Row& row, Turns::Continuation more, const GenerationRule& rule, Rollout* rollout) {
  rollout->fault = std::move(more.fault);
  rollout->finish = Finish::budget;
  if (!rollout->fault.empty()) return false;
  const std::size_t before = rollout->token.size(), limit = static_cast<std::size_t>(bounds_[row.rollout].end);
  if (more.ends && !rule.stop.empty()) {
    more.token = {rule.stop.front()};
    rollout->finish = Finish::stopped;
  }
  more.token.resize(std::min(more.token.size(), limit - before));
  rollout->token.insert(rollout->token.end(), more.token.begin(), more.token.end());
  rollout->log_prob.resize(rollout->token.size(), std::numeric_limits<float>::quiet_NaN());
  rollout->version.resize(rollout->token.size(), rule.version);
  rollout->trainable.resize(rollout->token.size(), 0);
  if (more.ends) return false;
  rollout->finish = rollout->token.size() == limit ? Finish::length : Finish::aborted;
  if (rollout->finish == Finish::length) return false;
  // All but the newest token, which the next decoding step computes.
  compute_until(0, row.sequence, std::span(rollout->token).subspan(before - 1, more.token.size()));
  return true;
}

void Generator::decode_step(const GenerationRule& rule, std::vector<Rollout>* rollouts) {
  const std::size_t count = rows_.size();
  std::vector<Transformer::Extension> extensions(count);
  std::vector<float> uniforms(count);
  for (std::size_t i = 0; i < count; ++i) {
    Row& row = rows_[i];
    const Rollout& rollout = (*rollouts)[row.rollout];
    MAXPLUS_REQUIRE(cache_.reserve(row.sequence, 1), "no page for a token");
    extensions[i] = {&row.sequence, {&rollout.token.back(), 1}};
    uniforms[i] = uniform(rule.seed, rule.purpose, rollout.id.packed(), rollout.token.size());
  }
  const TensorView logits = transformer_.extend(cache_, extensions);
  counters_.tokens_processed += static_cast<std::int64_t>(count);
  std::vector<std::int32_t> tokens(count);
  std::vector<float> log_probs(count);
  draw(logits, uniforms, rule, tokens, log_probs);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (append(&(*rollouts)[rows_[i].rollout], bounds_[rows_[i].rollout], tokens[i], log_probs[i], rule)) {
      end_row(rows_[i], *rollouts);
    } else {
      if (kept != i) rows_[kept] = std::move(rows_[i]);
      ++kept;
    }
  }
  rows_.resize(kept);
  counters_.tokens_generated += static_cast<std::int64_t>(count);
  ++counters_.decode_steps;
}

void Generator::draw(TensorView logits, std::span<const float> uniform, const GenerationRule& rule,
                     std::span<std::int32_t> token, std::span<float> log_prob) {
  const std::int64_t rows = logits.extent(0);
  const TensorView maximum = row_maximum_.rows(0, rows), log_sum = row_log_sum_.rows(0, rows);
  ops::softmax_statistics(stream_, maximum, log_sum, entropy_.rows(0, rows), logits, rule.sampling.inverse_temperature);
  ops::copy_to_device(stream_, uniform_.rows(0, rows), uniform.data());
  ops::sample(stream_, token_.rows(0, rows), log_prob_.rows(0, rows), logits, maximum, log_sum, uniform_.rows(0, rows),
              scratch_, rule.sampling);
  ops::copy_to_host(stream_, token.data(), token_.rows(0, rows));
  ops::copy_to_host(stream_, log_prob.data(), log_prob_.rows(0, rows));
}

bool Generator::append(Rollout* rollout, const Bounds& bounds, std::int32_t token, float log_prob,
                       const GenerationRule& rule) const {
  rollout->token.push_back(token);
  rollout->log_prob.push_back(log_prob);
  rollout->version.push_back(rule.version);
  rollout->trainable.push_back(1);
  const auto length = static_cast<std::int64_t>(rollout->token.size());
  const bool stops = std::find(rule.stop.begin(), rule.stop.end(), token) != rule.stop.end();
  if (stops && rule.force_length == 0) {
    rollout->finish = Finish::stopped;
  } else if (length >= bounds.end) {
    rollout->finish = Finish::length;
  } else if (length >= bounds.park) {
    rollout->finish = Finish::parked;
  } else {
    return false;
  }
  return true;
}

}  // namespace maxplus
