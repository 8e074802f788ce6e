#pragma once
// Which rollouts are trained together: the plan of a step, and the packed batch of one micro-batch.
//
// The plan knows nothing of ranks, so the same sums are formed on any number of them (src/README.md, "one order for
// every sum"). Rollouts keep their order. A step is cut into slices of about equal numbers of tokens: a rollout belongs
// to the slice in which the middle of its tokens falls. A cut then moves to the nearest boundary between groups if that
// is at most a quarter of a slice's tokens away, because a group that is cut computes its prompt twice. Slices may be
// empty.
//
// Tokens here are those the network is fed with: a prompt once a group, and of a response all but its last token, which
// predicts nothing. What all prompts of a step begin with (worked examples, a system turn) stands once a micro-batch,
// if it is 16 tokens or more, and groups continue it.

#include <cstdint>
#include <span>
#include <vector>

#include "rl/sample.hpp"
#include "tensor/token_batch.hpp"

namespace maxplus {

using RolloutList = std::vector<std::int64_t>;  // indices into the step, ascending, without gaps

struct StepPlan {
  std::vector<std::vector<RolloutList>> slice;  // slice -> micro-batches -> rollouts
};

struct PackedSize {
  std::int64_t tokens = 0;  // rows of the batch
  std::int64_t segments = 0;
  std::int64_t targets = 0;  // response tokens, each with a log-probability
  friend bool operator==(const PackedSize&, const PackedSize&) = default;
};

// Where a step may be cut. `between`: each group is in one slice and one micro-batch, for losses that compare its
// members.
enum class GroupCut : std::uint8_t { anywhere, between };

// A micro-batch holds at most micro_batch_tokens tokens; a rollout (or a group that may not be cut) with more stands
// alone.
StepPlan plan_step(std::span<const Experience* const> step, int slices, std::int64_t micro_batch_tokens,
                   GroupCut cut = GroupCut::anywhere);

// The same with a token behind each response, not trainable, that nobody asks for: so its last token is fed too, and
// the last place of a response is that of the whole of it.
std::vector<Experience> fed_whole(std::span<const Experience* const> step);

PackedSize packed_size(std::span<const Experience* const> step, const RolloutList& rollouts);
// The largest extents, each over all micro-batches: what buffers must hold.
PackedSize largest_micro_batch(std::span<const Experience* const> step, const StepPlan& plan);

// Where a target stands: the rollout's place in the micro-batch's list, and its response token.
struct TokenPlace {
  std::int32_t rollout = 0;
  std::int32_t token = 0;
};

struct MicroBatch {
  RolloutList rollouts;
  TokenBatch batch;                  // the common beginning, prompts of groups, responses as their children
  std::vector<std::int32_t> row;     // into the batch, ascending; a prompt's last row stands once for each response
  std::vector<std::int32_t> target;  // the token that is asked for there
  std::vector<TokenPlace> place;     // of each target
};

// Neighbours of one group with equal prompts share the prompt. Prompts must not be empty: no row would predict the
// first token.
MicroBatch build_micro_batch(std::span<const Experience* const> step, const RolloutList& rollouts);

// Values of targets (log-probabilities, entropies), sorted into a list for each rollout, a response token each.
std::vector<std::vector<float>> by_rollout(const MicroBatch& micro_batch, std::span<const float> of_target);
// The way back: gradients of a rollout's tokens as gradients of targets, in the order of row and target.
std::vector<float> by_target(const MicroBatch& micro_batch, std::span<const std::vector<float>> of_rollout);

}  // namespace maxplus
