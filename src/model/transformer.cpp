// The network: embedding, layers, heads, and the buffers between them.
//
// All buffers are taken in the constructor, in one fixed order, from arenas that may be counting ones.
#include "model/transformer.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "model/block.hpp"
#include "model/chosen_rows.hpp"
#include "model/head.hpp"
#include "model/page_plan.hpp"
#include "model/rotary_table.hpp"
#include "model/value_head.hpp"
#include "model/weight_layout.hpp"
#include "ops/elementwise.hpp"
#include "ops/embedding.hpp"

namespace maxplus {

namespace {

void check_limits(const TransformerLimits& limits) {
  MAXPLUS_REQUIRE(
      limits.batch_tokens >= 0 && limits.batch_segments >= 0 && limits.extend_tokens >= 0 && limits.extend_rows >= 0,
      "limits are not negative");
}

}  // namespace

struct Transformer::Impl {
  enum class Keep { everything, last };  // whether layers keep their states for backward
  enum class Last { nothing, forward };  // what stands in the buffers

  Impl(WeightSet& weights_in, Use use_in, ops::Arithmetic arithmetic, const TransformerLimits& limits_in,
       const Stream& stream_in, Arena& packed, Arena& activations, LayerSupply* supply_in);

  void take_blocks(ops::Arithmetic arithmetic, Arena& packed);
  void take_heads(ops::Arithmetic arithmetic, Arena& packed, Arena& activations);
  void take_states(Arena& activations);
  void take_index_lists(Arena& activations);
  std::int64_t scratch_elements() const;

  void forget_rows();  // of the hidden states before
  void check_rows(std::span<const std::int32_t> row) const;
  void heads_backward(TensorView gradient_of_hidden, const WeightViews& d, const TargetGradients& gradients,
                      TensorView scratch);
  void scale_embedding(TensorView x) const;  // what was looked up, or its gradient
  void upload(std::span<const std::int32_t> tokens, std::span<const std::int32_t> positions, const PagePlan& plan);
  AttentionInput attention_input(TensorView key_pages, TensorView value_pages) const;
  // The hidden states behind the last layer; pages(l) gives keys and values of layer l.
  template <class Pages>
  TensorView run_layers(std::int64_t count, Keep keep, const Pages& pages);

  WeightSet* weights;
  LayerSupply* supply;  // null: the weights hold all layers
  Use use;
  TransformerLimits limits;
  const Stream* stream;
  WeightViews views;
  std::vector<Block> blocks;
  ChosenRows chosen;
  std::optional<Head> head;
  std::optional<ValueHead> value_head;
  RotaryTable rotary;
  std::int64_t most_tokens;

  std::vector<BlockState> states;                                     // of every layer for training, else one
  TensorView last_hidden;                                             // [T, C]
  TensorView d_x;                                                     // [T, C], training only
  std::vector<BlockWork> work;                                        // exactly one
  TensorView key_pages, value_pages;                                  // temporary, of one layer
  TensorView token_list, position_list, page_table_list, write_list;  // i32

  PagePlan plan;  // of what runs now
  std::int64_t tokens_now = 0;
  Last last = Last::nothing;
  bool packed_once = false;
};

Transformer::Impl::Impl(WeightSet& weights_in, Use use_in, ops::Arithmetic arithmetic,
                        const TransformerLimits& limits_in, const Stream& stream_in, Arena& packed, Arena& activations,
                        LayerSupply* supply_in)
    : weights(&weights_in),
      supply(supply_in),
      use(use_in),
      limits(limits_in),
      stream(&stream_in),
      views(weight_views(weights_in.config(), weights_in.all())),
      chosen(weights_in.config(), views, use_in, limits_in, packed, activations),
      rotary(weights_in.config(), stream_in, activations),
      most_tokens(std::max(limits_in.batch_tokens, limits_in.extend_tokens)) {
  check_limits(limits);
  take_heads(arithmetic, packed, activations);
  take_blocks(arithmetic, packed);
  take_states(activations);
  take_index_lists(activations);
}

// Layers that are brought one at a time share the memory of one.
void Transformer::Impl::take_blocks(ops::Arithmetic arithmetic, Arena& packed) {
  MAXPLUS_REQUIRE(supply == nullptr || use == Use::inference, "layers that are brought do not learn");
  const Linear::Packing packing = use == Use::training ? Linear::Packing::both : Linear::Packing::forward;
  const ModelConfig& whole = supply != nullptr ? supply->config() : weights->config();
  const std::size_t mark = packed.mark();
  blocks.reserve(static_cast<std::size_t>(whole.layers));
  for (std::int64_t l = 0; l < whole.layers; ++l) {
    if (supply != nullptr) packed.release(mark);
    const LayerWeights& layer = views.layer[supply != nullptr ? 0 : static_cast<std::size_t>(l)];
    blocks.emplace_back(weights->config(), whole.block_of(l), layer, packing, arithmetic, packed);
  }
}

void Transformer::Impl::take_heads(ops::Arithmetic arithmetic, Arena& packed, Arena& activations) {
  const ModelConfig& c = weights->config();
  if (c.token_head) head.emplace(chosen, c, views, use, arithmetic, limits, packed, activations);
  if (c.value_head) {
    value_head.emplace(chosen, views, c.token_head ? ValueHead::Place::beside_tokens : ValueHead::Place::alone, use,
                       limits, packed, activations);
  }
}

void Transformer::Impl::take_states(Arena& activations) {
  const ModelConfig& c = weights->config();
  const bool training = use == Use::training;
  for (std::size_t l = 0; l < (training ? blocks.size() : 1); ++l) {
    states.emplace_back(c, l == 0 ? most_tokens : limits.batch_tokens,
                        training ? BlockState::Residual::own_middle : BlockState::Residual::in_place, activations);
  }
  last_hidden = training ? activations.take(DType::f32, {limits.batch_tokens, c.width}) : states.front().in;
  d_x = activations.take(DType::f32, {training ? limits.batch_tokens : 0, c.width});
  work.emplace_back(c, most_tokens, training ? limits.batch_tokens : 0, scratch_elements(), activations);
}

std::int64_t Transformer::Impl::scratch_elements() const {
  const ModelConfig& c = weights->config();
  std::int64_t most = ops::attention_scratch(*stream, c.heads, c.kv_heads, c.head_width);
  if (use == Use::training && limits.batch_tokens > 0) {
    const std::int64_t longest = std::min(limits.batch_tokens, c.context);
    most = std::max({most, ops::attention_backward_scratch(*stream, longest, c.heads, c.kv_heads, c.head_width),
                     blocks.front().scratch_elements(*stream, limits.batch_tokens)});
    if (head) most = std::max(most, head->scratch_elements(*stream));
    if (value_head) most = std::max(most, value_head->scratch_elements(*stream));
  }
  return most;
}

void Transformer::Impl::take_index_lists(Arena& activations) {
  const ModelConfig& c = weights->config();
  const PagePlanLimits batch = batch_plan_limits(limits.batch_tokens, limits.batch_segments, c.context);
  const PagePlanLimits extension = extension_plan_limits(limits.extend_tokens, limits.extend_rows, c.context);
  key_pages = activations.take(DType::f32, {batch.pages, c.kv_heads, c.head_width, ops::kPageTokens});
  value_pages = activations.take(DType::f32, {batch.pages, c.kv_heads, ops::kPageTokens, c.head_width});
  token_list = activations.take(DType::i32, {most_tokens});
  position_list = activations.take(DType::i32, {most_tokens});
  page_table_list = activations.take(DType::i32, {std::max(batch.table, extension.table)});
  write_list = activations.take(DType::i32, {std::max(batch.writes, extension.writes), 3});
}

void Transformer::Impl::scale_embedding(TensorView x) const {
  const auto factor = static_cast<float>(weights->config().embedding_scale);
  if (factor != 1.0f) ops::scale(*stream, x, x, factor);
}

void Transformer::Impl::upload(std::span<const std::int32_t> tokens, std::span<const std::int32_t> positions,
                               const PagePlan& new_plan) {
  MAXPLUS_REQUIRE(packed_once, "pack_weights comes first");
  const ModelConfig& c = weights->config();
  MAXPLUS_REQUIRE(new_plan.longest <= c.context,
                  fmt::format("{} positions, the context has {}", new_plan.longest, c.context));
  for (std::int32_t token : tokens) {
    MAXPLUS_REQUIRE(token >= 0 && token < c.vocabulary, fmt::format("token {} of vocabulary {}", token, c.vocabulary));
  }
  plan = new_plan;
  tokens_now = static_cast<std::int64_t>(tokens.size());
  ops::copy_to_device(*stream, token_list.rows(0, tokens_now), tokens.data());
  ops::copy_to_device(*stream, position_list.rows(0, tokens_now), positions.data());
  ops::copy_to_device(*stream, page_table_list.rows(0, static_cast<std::int64_t>(plan.page_table.size())),
                      plan.page_table.data());
  ops::copy_to_device(*stream, write_list.rows(0, static_cast<std::int64_t>(plan.write.size()) / 3), plan.write.data());
}

AttentionInput Transformer::Impl::attention_input(TensorView keys, TensorView values) const {
  return {keys,
          values,
          page_table_list.rows(0, static_cast<std::int64_t>(plan.page_table.size())),
          write_list.rows(0, static_cast<std::int64_t>(plan.write.size()) / 3),
          position_list.rows(0, tokens_now),
          plan.queries};
}

void Transformer::Impl::forget_rows() {
  chosen.forget();
  if (head) head->forget();
  if (value_head) value_head->forget();
}

void Transformer::Impl::check_rows(std::span<const std::int32_t> row) const {
  MAXPLUS_REQUIRE(last == Last::forward, "forward comes first, with nothing in between");
  MAXPLUS_REQUIRE(row.empty() || (row.front() >= 0 && row.back() < tokens_now),
                  "rows of targets are rows of the batch");
}

void Transformer::Impl::heads_backward(TensorView gradient_of_hidden, const WeightViews& d,
                                       const TargetGradients& gradients, TensorView scratch) {
  const bool of_tokens = !gradients.log_prob.empty(), of_values = !gradients.value.empty();
  if (!of_tokens && !of_values) return ops::fill(*stream, gradient_of_hidden, 0.0f);
  if (of_tokens) head->backward(*stream, weights->head_gradient(), gradients.log_prob, gradients.entropy, scratch);
  if (of_values) {
    value_head->backward(*stream, d.score, gradients.value, of_tokens ? ValueHead::Into::sum : ValueHead::Into::fresh,
                         scratch);
  }
  chosen.backward(*stream, gradient_of_hidden, d.final_norm);
}

template <class Pages>
TensorView Transformer::Impl::run_layers(std::int64_t count, Keep keep, const Pages& pages) {
  const bool keep_all = keep == Keep::everything;
  const BlockWork now = work.front().rows(count);
  TensorView out = states.front().in.rows(0, count);
  ops::embedding(*stream, out, views.embedding, token_list.rows(0, count));
  scale_embedding(out);
  for (std::size_t l = 0; l < blocks.size(); ++l) {
    const BlockState state = states[keep_all ? l : 0].rows(count);
    const TensorView& next = !keep_all ? states.front().in : l + 1 < blocks.size() ? states[l + 1].in : last_hidden;
    out = next.rows(0, count);
    const std::pair<TensorView, TensorView> keys_values = pages(static_cast<std::int64_t>(l));
    if (supply != nullptr) {
      supply->bring(*stream, static_cast<std::int64_t>(l));
      blocks[l].pack(*stream);
    }
    blocks[l].forward(*stream, out, state, now, attention_input(keys_values.first, keys_values.second), rotary);
  }
  return out;
}

Transformer::Transformer(WeightSet& weights, Use use, ops::Arithmetic arithmetic, const TransformerLimits& limits,
                         const Stream& stream, Arena& packed, Arena& activations, LayerSupply* supply)
    : impl_(std::make_unique<Impl>(weights, use, arithmetic, limits, stream, packed, activations, supply)) {}

Transformer::~Transformer() = default;

const ModelConfig& Transformer::config() const {
  return impl_->supply != nullptr ? impl_->supply->config() : impl_->weights->config();
}

void Transformer::pack_weights() {
  if (impl_->supply == nullptr) {
    for (Block& block : impl_->blocks) block.pack(*impl_->stream);
  }
  impl_->chosen.pack(*impl_->stream);
  if (impl_->head) impl_->head->pack(*impl_->stream);
  if (impl_->value_head) impl_->value_head->pack(*impl_->stream);
  impl_->packed_once = true;
  impl_->last = Impl::Last::nothing;  // what the buffers hold belongs to the weights before
}

void Transformer::forward(const TokenBatch& batch) {
  Impl& m = *impl_;
  MAXPLUS_REQUIRE(batch.tokens() <= m.limits.batch_tokens && batch.segments() <= m.limits.batch_segments,
                  fmt::format("{} tokens in {} segments, room for {} in {}", batch.tokens(), batch.segments(),
                              m.limits.batch_tokens, m.limits.batch_segments));
  m.forget_rows();
  m.upload(batch.token, batch.position, plan_batch(batch));
  m.last = Impl::Last::forward;
  if (batch.tokens() == 0) return;
  const Impl::Keep keep = m.use == Use::training ? Impl::Keep::everything : Impl::Keep::last;
  m.run_layers(batch.tokens(), keep, [&](std::int64_t) { return std::pair(m.key_pages, m.value_pages); });
}

void Transformer::score(const HeadTargets& targets, float inverse_temperature, std::span<float> log_prob,
                        std::span<float> entropy) {
  Impl& m = *impl_;
  m.check_rows(targets.row);
  MAXPLUS_REQUIRE(m.head.has_value(), "the network has a head of tokens");
  m.head->score(*m.stream, m.last_hidden.rows(0, m.tokens_now), targets, inverse_temperature, log_prob, entropy);
}

void Transformer::values(std::span<const std::int32_t> row, std::span<float> value) {
  Impl& m = *impl_;
  m.check_rows(row);
  MAXPLUS_REQUIRE(m.value_head.has_value(), "the network has a value head");
  m.value_head->values(*m.stream, m.last_hidden.rows(0, m.tokens_now), row, value);
}

void Transformer::backward(std::span<const float> d_log_prob, std::span<const float> d_entropy) {
  MAXPLUS_REQUIRE(impl_->head.has_value(), "the network has a head of tokens");
  backward(TargetGradients{d_log_prob, d_entropy, {}});
}

void Transformer::backward(const TargetGradients& gradients) {
  Impl& m = *impl_;
  MAXPLUS_REQUIRE(m.use == Use::training && m.last == Impl::Last::forward, "forward comes first");
  const TensorView gradient = m.weights->gradient();
  MAXPLUS_REQUIRE(gradient.rank() == 1, "gradients are bound");
  if (m.tokens_now == 0) return;
  const WeightViews d = weight_views(m.weights->config(), gradient);
  const TensorView d_x = m.d_x.rows(0, m.tokens_now), position = m.position_list.rows(0, m.tokens_now);
  const BlockWork work = m.work.front().backward_rows(m.tokens_now);
  m.heads_backward(d_x, d, gradients, work.scratch);
  for (std::size_t l = m.blocks.size(); l-- > 0;) {
    m.blocks[l].backward(*m.stream, d_x, d.layer[l], m.states[l].rows(m.tokens_now), work, m.plan.trie, m.plan.longest,
                         position, m.rotary);
  }
  m.scale_embedding(d_x);
  ops::embedding_backward(*m.stream, d.embedding, d_x, m.token_list.rows(0, m.tokens_now));
}

TensorView Transformer::extend(KvCache& cache, std::span<const Extension> extensions) {
  Impl& m = *impl_;
  m.last = Impl::Last::nothing;
  m.forget_rows();
  std::vector<std::int32_t> tokens, positions, last_rows;
  for (const Extension& extension : extensions) {
    auto position = static_cast<std::int32_t>(extension.sequence->length);
    for (std::int32_t token : extension.tokens) {
      tokens.push_back(token);
      positions.push_back(position++);
    }
    if (!extension.tokens.empty()) last_rows.push_back(static_cast<std::int32_t>(tokens.size()) - 1);
  }
  const auto count = static_cast<std::int64_t>(tokens.size()), asked = static_cast<std::int64_t>(last_rows.size());
  MAXPLUS_REQUIRE(count <= m.limits.extend_tokens && asked <= m.limits.extend_rows,
                  fmt::format("{} tokens of {} sequences, room for {} of {}", count, asked, m.limits.extend_tokens,
                              m.limits.extend_rows));
  m.upload(tokens, positions, plan_extensions(extensions));
  TensorView hidden = m.states.front().in.rows(0, 0);
  if (count > 0) {
    hidden = m.run_layers(count, Impl::Keep::last,
                          [&](std::int64_t l) { return std::pair(cache.keys(l), cache.values(l)); });
  }
  for (const Extension& extension : extensions)
    extension.sequence->length += static_cast<std::int64_t>(extension.tokens.size());
  MAXPLUS_REQUIRE(m.head.has_value(), "the network has a head of tokens");
  return m.head->logits(*m.stream, hidden, last_rows);
}

}  // namespace maxplus
