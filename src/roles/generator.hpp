#pragma once
// The generator: draws rollouts with continuous batching.
//
// What all prompts of a call have in common (worked examples, a system turn) is computed once, and so is a group's
// prompt; their full pages are shared. The first token of every member is drawn from the prompt's last row at once;
// then members are decoded in rows that free themselves as answers end. What is drawn is a function of (seed, purpose,
// rollout id, token) and of the weights alone: it depends neither on who else is in the batch nor on the ranks.
//
// With an environment a rollout that has made a call leaves the batch until it is answered, while the others go on. The
// answer's tokens are foreign: they count in lengths and draws go on behind them, but nobody drew or trains them.
//
// Where a request wants fewer rollouts than it has members, the first that end count (first_ended.hpp); what cannot be
// among them any more is stopped.
//
// With a token budget a rollout that has used it up is parked, and so are all that have not ended when a call is
// interrupted. A later call goes on behind the last token: prompt and tokens are computed again with the weights of
// that call, what was drawn stays as it is.

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "device/stream.hpp"
#include "model/kv_cache.hpp"
#include "model/transformer.hpp"
#include "ops/sampling.hpp"
#include "rl/sample.hpp"
#include "roles/first_ended.hpp"
#include "roles/turns.hpp"
#include "tensor/arena.hpp"

namespace maxplus {

// A group to be drawn: one rollout for each id.
struct GenerationRequest {
  const Problem* problem = nullptr;
  std::int64_t group = 0;
  std::vector<RolloutId> ids;
  std::vector<Rollout> begun;       // the same members as an earlier call left them; empty: none has begun
  std::int64_t max_new_tokens = 0;  // where the context leaves less room than the rule allows; 0: the rule's
  std::int64_t wanted = 0;          // so many of them, those with the fewest tokens; 0: all
};

// Asked between decoding steps.
using StopRequest = std::function<bool()>;

struct GenerationRule {
  ops::SamplingRule sampling;
  std::int64_t max_new_tokens = 0;
  std::int64_t force_length = 0;   // > 0: stop tokens end nothing, every rollout has so many tokens
  double force_length_sigma = 0;   // or, above 0, as many as forced_length says
  double force_length_shared = 0;  // share of the variance that rollouts of a problem have in common
  std::int64_t token_budget = 0;   // new tokens of a rollout in one call; 0: no limit
  StopRequest pause;               // true: what has not ended is parked, begun or not, and the call returns
  std::vector<std::int32_t> stop;  // token ids
  std::uint64_t seed = 1;
  Purpose purpose = Purpose::sampling;
  std::int32_t version = 0;                  // policy version, recorded with every token
  const Environment* environment = nullptr;  // null: rollouts make no calls
  const Tokenizer* tokenizer = nullptr;      // of calls and answers
};

// Lognormal about force_length, from 1 to max_new_tokens; of (seed, id, problem) alone.
std::int64_t forced_length(const GenerationRule& rule, const RolloutId& id, std::int64_t problem);

// Called as soon as the last rollout of a request has ended, between decoding steps; never if one of them is parked.
using RequestDone = std::function<void(std::size_t request, std::span<const Rollout> rollouts)>;

class Generator {
 public:
  struct Limits {
    std::int64_t rows = 64;           // rollouts decoded together
    std::int64_t group_size = 1;      // the largest group, for the room of prompts that wait for rows
    std::int64_t prompt_tokens = 0;   // the longest prompt
    std::int64_t new_tokens = 0;      // the longest answer
    std::int64_t prefill_tokens = 0;  // prompt tokens computed in one go
  };
  // Pages that `limits` need in the worst case, so that no rollout ever has to be put back.
  static std::int64_t pages(const Limits& limits);
  // Rows of logits that one call of Transformer::extend may return.
  static std::int64_t rows_asked(const Limits& limits);

  // Buffers come from `arena` (counting or real).
  Generator(Transformer& transformer, const Limits& limits, const Stream& stream, Arena& arena);

  // Rollouts of all requests, in the order of requests and ids. An abandoned call (`stop` is true) returns what ended
  // before; the others carry Finish::aborted. Drops all cached keys and values first: weights may have changed. What
  // had ended in an earlier call comes back as it was; what was stopped as more than is wanted carries Finish::surplus.
  std::vector<Rollout> generate(std::span<const GenerationRequest> requests, const GenerationRule& rule,
                                const StopRequest& stop, const RequestDone& done = {});
  // From within `stop`: when a request is complete, as far as that is known; and that it is not wanted at all.
  CompleteAt complete_at_bounds(std::size_t request) const;
  void give_up(std::size_t request);

  struct Counters {
    std::int64_t tokens_generated = 0;  // drawn
    std::int64_t tokens_processed = 0;  // rows that went through the network: prompts and decoded tokens
    std::int64_t decode_steps = 0;
    double seconds_to_ninety_percent = 0, seconds = 0;  // of the last call: until 90 % of the rollouts ended, and all
  };
  const Counters& counters() const { return counters_; }

 private:
  struct Row {
    KvCache::Sequence sequence;
    std::size_t rollout = 0;  // index into the result
    std::int64_t prompt_length = 0;
  };
  struct Waiting {  // a member that has its first token but no row yet
    std::size_t rollout, prompt;
  };
  struct Prompt {
    KvCache::Sequence sequence;
    std::int64_t members_left = 0;
  };
  struct Asked {  // of a request
    std::size_t first = 0, count = 0, open = 0;
    bool parked = false;
    std::int64_t wanted = 0;
    bool given_up = false;
    std::optional<std::pair<std::int64_t, std::size_t>> last = {};  // last_that_counts
  };
  struct Bounds {  // of a rollout's tokens
    std::int64_t end = 0, park = 0;
  };

  void take_on(std::span<const GenerationRequest> requests, const GenerationRule& rule, std::vector<Rollout>* rollouts);
  std::span<const std::int32_t> compute_until(std::int64_t most, KvCache::Sequence& sequence,
                                              std::span<const std::int32_t> tokens);
  void prefill(std::span<const GenerationRequest> requests, const GenerationRule& rule, std::size_t* next_request,
               std::size_t* next_rollout, std::vector<Rollout>* rollouts);
  void admit(const std::vector<Rollout>& rollouts);
  std::int64_t rows_in_use() const { return static_cast<std::int64_t>(rows_.size() + calling_.size()); }
  void exchange_turns(const GenerationRule& rule, std::vector<Rollout>* rollouts);
  // False when the rollout has ended.
  bool go_on(Row& row, Turns::Continuation more, const GenerationRule& rule, Rollout* rollout);
  void end_row(Row& row, const std::vector<Rollout>& rollouts);
  void end_rollout(std::size_t rollout, const std::vector<Rollout>& rollouts);
  void find_last(Asked* asked, const std::vector<Rollout>& rollouts);
  bool is_surplus(std::size_t rollout, const std::vector<Rollout>& rollouts) const;
  void end_surplus(std::vector<Rollout>* rollouts);
  void decode_step(const GenerationRule& rule, std::vector<Rollout>* rollouts);
  // Records a drawn token; true when the rollout has ended.
  bool append(Rollout* rollout, const Bounds& bounds, std::int32_t token, float log_prob,
              const GenerationRule& rule) const;
  void draw(TensorView logits, std::span<const float> uniform, const GenerationRule& rule,
            std::span<std::int32_t> token, std::span<float> log_prob);

  Transformer& transformer_;
  Limits limits_;
  const Stream& stream_;
  KvCache cache_;
  TensorView row_maximum_, row_log_sum_, entropy_, uniform_, token_, log_prob_, scratch_;
  KvCache::Sequence common_;             // the pages that begin every prompt of this call
  std::vector<Row> rows_, calling_;      // decoded; waiting for the environment
  std::vector<const Problem*> problem_;  // of each rollout
  std::vector<std::size_t> request_of_;  // likewise
  std::vector<Asked> asked_;
  const std::vector<Rollout>* rollouts_ = nullptr;  // of a call that is under way
  bool has_surplus_ = false;                        // whether something may be stopped
  RequestDone done_;
  std::unique_ptr<Turns> turns_;  // null: no environment
  std::vector<Prompt> prompts_;
  std::deque<Waiting> waiting_;
  std::vector<Bounds> bounds_;  // of each rollout
  std::int64_t ended_ = 0;
  Counters counters_;
};

}  // namespace maxplus
