// A token's log-probability has the same bits when it is drawn, scored and trained on, shared prompt or not.
#include <cmath>

#include <gtest/gtest.h>

#include "model/test_model.hpp"
#include "ops/logprob.hpp"

namespace maxplus {
namespace {

constexpr std::int64_t kVocabulary = 37;

ModelSetup setup_of(ops::Arithmetic arithmetic) {
  ModelSetup setup;
  setup.limits = {260, 12, 70, 9, 5};
  setup.arithmetic = arithmetic;
  return setup;
}

// log_prob of `target` after the rows of logits that `extend` returned.
std::vector<float> log_prob_of(const Stream& stream, TensorView logits, std::vector<std::int32_t> target,
                               float inverse_temperature) {
  const std::int64_t rows = logits.extent(0);
  std::vector<float> maximum(target.size()), log_sum(target.size()), entropy(target.size()), out(target.size());
  std::vector<std::int32_t> row(target.size());
  for (std::size_t r = 0; r < row.size(); ++r) row[r] = static_cast<std::int32_t>(r);
  const auto floats = [&](std::vector<float>& v) { return TensorView(v.data(), DType::f32, Space::host, {rows}); };
  const auto whole = [&](std::vector<std::int32_t>& v) {
    return TensorView(v.data(), DType::i32, Space::host, {rows});
  };
  ops::softmax_statistics(stream, floats(maximum), floats(log_sum), floats(entropy), logits, inverse_temperature);
  ops::gather_log_prob(stream, floats(out), logits, floats(maximum), floats(log_sum), whole(row), whole(target),
                       inverse_temperature);
  return out;
}

// A prompt and its answers.
struct Group {
  std::vector<std::int32_t> prompt;
  std::vector<std::vector<std::int32_t>> answers;
};
Group some_group(std::int64_t prompt_tokens) {
  Group group{some_tokens(prompt_tokens, 11, kVocabulary), {}};
  std::uint32_t seed = 20;
  for (const std::int64_t tokens : {41, 3, 16}) group.answers.push_back(some_tokens(tokens, ++seed, kVocabulary));
  return group;
}

// Scores of the answers, all in one trie, or answer `only` alone as one plain sequence. The last token of an answer is
// a target but no input, as in training.
std::vector<float> score_group(TestModel& model, const Group& group, int only, float inverse_temperature) {
  TokenBatch batch;
  HeadTargets targets;
  const auto prompt_end = static_cast<std::int32_t>(group.prompt.size()) - 1;
  if (only >= 0) {
    std::vector<std::int32_t> tokens = group.prompt;
    const auto& answer = group.answers[static_cast<std::size_t>(only)];
    tokens.insert(tokens.end(), answer.begin(), answer.end() - 1);
    batch.append(tokens, -1);
    for (std::size_t t = 0; t < answer.size(); ++t) {
      targets.row.push_back(prompt_end + static_cast<std::int32_t>(t));
      targets.target.push_back(answer[t]);
    }
  } else {
    batch.append(group.prompt, -1);
    for (const auto& answer : group.answers) {
      targets.row.push_back(prompt_end);
      targets.target.push_back(answer[0]);
    }
    for (const auto& answer : group.answers) {
      const auto first = static_cast<std::int32_t>(batch.tokens());
      batch.append(std::span(answer).first(answer.size() - 1), 0);
      for (std::size_t t = 1; t < answer.size(); ++t) {
        targets.row.push_back(first + static_cast<std::int32_t>(t) - 1);
        targets.target.push_back(answer[t]);
      }
    }
  }
  std::vector<float> log_prob(targets.row.size(), NAN), entropy(targets.row.size(), NAN);
  model.network->forward(batch);
  model.network->score(targets, inverse_temperature, log_prob, entropy);
  if (only >= 0) return log_prob;
  // from the order of rows to the order of answers
  std::vector<float> ordered;
  std::size_t next = group.answers.size();
  for (std::size_t a = 0; a < group.answers.size(); ++a) {
    ordered.push_back(log_prob[a]);
    for (std::size_t t = 1; t < group.answers[a].size(); ++t) ordered.push_back(log_prob[next++]);
  }
  return ordered;
}

// The same log-probabilities by decoding: one prefill in pieces, forks, then all answers side by side.
std::vector<float> decode_group(TestModel& model, const Group& group, std::int64_t piece, float inverse_temperature) {
  Arena arena("cache", static_cast<std::size_t>(30 * KvCache::bytes_per_page(model.weights.config())) + 64,
              Space::host);
  poison(arena, model.stream);
  KvCache cache(model.weights.config(), 30, arena);
  KvCache::Sequence prompt;
  EXPECT_TRUE(cache.reserve(prompt, static_cast<std::int64_t>(group.prompt.size())));
  std::vector<std::vector<float>> found(group.answers.size());
  std::vector<std::int32_t> first;
  for (const auto& answer : group.answers) first.push_back(answer[0]);
  for (std::size_t at = 0; at < group.prompt.size();) {
    const std::size_t count = std::min(static_cast<std::size_t>(piece), group.prompt.size() - at);
    const Transformer::Extension extension{&prompt, std::span(group.prompt).subspan(at, count)};
    const TensorView logits = model.network->extend(cache, {&extension, 1});
    at += count;
    if (at < group.prompt.size()) continue;
    for (std::size_t a = 0; a < first.size(); ++a) {
      found[a].push_back(log_prob_of(model.stream, logits, {first[a]}, inverse_temperature)[0]);
    }
  }
  std::vector<KvCache::Sequence> sequences(group.answers.size());
  for (KvCache::Sequence& sequence : sequences) EXPECT_TRUE(cache.fork(model.stream, prompt, sequence));
  cache.release(prompt);
  for (std::size_t t = 1; t < 41; ++t) {
    std::vector<Transformer::Extension> extensions;
    std::vector<std::size_t> who;
    std::vector<std::int32_t> target;
    for (std::size_t a = group.answers.size(); a-- > 0;) {  // another order than in scoring
      const auto& answer = group.answers[a];
      if (t >= answer.size()) continue;
      EXPECT_TRUE(cache.reserve(sequences[a], 1));
      extensions.push_back({&sequences[a], std::span(answer).subspan(t - 1, 1)});
      who.push_back(a);
      target.push_back(answer[t]);
    }
    const TensorView logits = model.network->extend(cache, extensions);
    const std::vector<float> log_prob = log_prob_of(model.stream, logits, target, inverse_temperature);
    for (std::size_t i = 0; i < who.size(); ++i) found[who[i]].push_back(log_prob[i]);
  }
  std::vector<float> ordered;
  for (const auto& one : found) ordered.insert(ordered.end(), one.begin(), one.end());
  return ordered;
}

void check_drawn_and_scored(const ModelConfig& config, ops::Arithmetic arithmetic) {
  TestModel model(config, setup_of(arithmetic));
  model.initialise_everything(4);
  for (const std::int64_t prompt_tokens : {1, 16, 37, 70}) {
    const Group group = some_group(prompt_tokens);
    for (const float inverse_temperature : {1.0f, 1.0f / 0.7f}) {
      const std::vector<float> scored = score_group(model, group, -1, inverse_temperature);
      for (float v : scored) ASSERT_TRUE(std::isfinite(v));
      for (const std::int64_t piece : {70, 13, 1}) {
        EXPECT_TRUE(same_bits(scored, decode_group(model, group, piece, inverse_temperature)))
            << config.family << ", prompt of " << prompt_tokens << " in pieces of " << piece;
      }
    }
  }
}

// Of all families; windows of 21 tokens, so most answers leave the prompt's beginning behind.
TEST(OnPolicy, LogProbabilitiesAreEqualWhenDrawnAndScored) {
  for (const std::string& family : family_names()) {
    for (const ops::Arithmetic arithmetic : {ops::Arithmetic::f32, ops::Arithmetic::bf16_dot})
      check_drawn_and_scored(odd_config_of(family), arithmetic);
  }
}

TEST(OnPolicy, ASharedPromptGivesTheBitsOfEachAnswerAlone) {
  for (const std::string& family : family_names()) {
    for (const ops::Arithmetic arithmetic : {ops::Arithmetic::f32, ops::Arithmetic::bf16_dot}) {
      TestModel model(odd_config_of(family), setup_of(arithmetic));
      model.initialise_everything(6);
      const Group group = some_group(37);
      const std::vector<float> shared = score_group(model, group, -1, 1.0f);
      std::vector<float> alone;
      for (int a = 0; a < 3; ++a) {
        const std::vector<float> one = score_group(model, group, a, 1.0f);
        alone.insert(alone.end(), one.begin(), one.end());
      }
      EXPECT_TRUE(same_bits(shared, alone)) << family;
    }
  }
}

TEST(OnPolicy, InferenceAndTrainingNetworksGiveTheSameBits) {
  TestModel trained(odd_config(true), setup_of(ops::Arithmetic::f32));
  ModelSetup setup = setup_of(ops::Arithmetic::f32);
  setup.use = Transformer::Use::inference;
  setup.limits.head_block = 64;
  TestModel scored(odd_config(true), setup);
  trained.initialise(8);
  scored.initialise(8);
  const Group group = some_group(37);
  EXPECT_TRUE(same_bits(score_group(trained, group, -1, 1.0f), score_group(scored, group, -1, 1.0f)));
  EXPECT_TRUE(same_bits(score_group(trained, group, -1, 1.0f), decode_group(scored, group, 13, 1.0f)));
  EXPECT_LT(scored.bytes.activations, trained.bytes.activations);
}

void check_sum_of_gradients(const std::string& family) {
  TestModel model(odd_config_of(family), setup_of(ops::Arithmetic::f32));
  model.initialise_everything(6);
  const Group group = some_group(37);
  std::size_t tokens = 0;
  for (const auto& answer : group.answers) tokens += answer.size();
  // rows in trie order: the three first tokens, then the rest of each answer; the weights follow the answers
  std::vector<float> weight(tokens), in_rows, zero(tokens, 0.0f);
  for (std::size_t n = 0; n < tokens; ++n) weight[n] = std::sin(static_cast<float>(n));
  std::size_t at = 0;
  for (const auto& answer : group.answers) {
    in_rows.push_back(weight[at]);
    at += answer.size();
  }
  at = 0;
  for (const auto& answer : group.answers) {
    in_rows.insert(in_rows.end(), weight.begin() + static_cast<std::ptrdiff_t>(at) + 1,
                   weight.begin() + static_cast<std::ptrdiff_t>(at + answer.size()));
    at += answer.size();
  }
  score_group(model, group, -1, 1.0f);
  model.network->backward(in_rows, zero);
  std::vector<std::vector<float>> shared;
  for (const Parameter& parameter : model.weights.parameters()) {
    const auto values = parameter.gradient.span<float>();
    shared.emplace_back(values.begin(), values.end());
  }
  model.clear_gradient();
  at = 0;
  for (int a = 0; a < 3; ++a) {
    const std::size_t count = group.answers[static_cast<std::size_t>(a)].size();
    score_group(model, group, a, 1.0f);
    model.network->backward(std::span(weight).subspan(at, count), std::span(zero).first(count));
    at += count;
  }
  constexpr double kSharedBeginningTolerance = 5e-5;  // of the tensor's norm: two orders of the same f32 sums
  for (std::size_t p = 0; p < shared.size(); ++p) {
    const auto alone = model.weights.parameters()[p].gradient.span<float>();
    double gap = 0, norm = 0;
    for (std::size_t i = 0; i < alone.size(); ++i) {
      gap += std::pow(static_cast<double>(alone[i]) - shared[p][i], 2);
      norm += std::pow(static_cast<double>(alone[i]), 2);
    }
    EXPECT_LE(std::sqrt(gap), kSharedBeginningTolerance * std::sqrt(norm)) << model.weights.parameters()[p].name;
    EXPECT_GT(norm, 0) << model.weights.parameters()[p].name;
  }
}

TEST(OnPolicy, ASharedPromptGivesTheSumOfTheAnswersGradients) {
  for (const std::string& family : family_names()) check_sum_of_gradients(family);
}

TEST(OnPolicy, EmptyAnswersAndOtherSequencesInTheBatchChangeNothing) {
  TestModel model(odd_config(true), setup_of(ops::Arithmetic::f32));
  model.initialise(6);
  const Group group = some_group(20);
  const std::vector<float> alone = score_group(model, group, 0, 1.0f);
  TokenBatch batch;
  batch.append(some_tokens(23, 77, kVocabulary), -1);
  batch.append({}, -1);
  const std::int32_t prompt = batch.append(group.prompt, 1);
  const std::int32_t hollow = batch.append({}, prompt);
  const std::int32_t first = static_cast<std::int32_t>(batch.tokens());
  batch.append(std::span(group.answers[0]).first(40), hollow);
  batch.append({}, prompt);
  HeadTargets targets;
  for (std::size_t t = 0; t < 41; ++t) {
    targets.row.push_back(first - 1 + static_cast<std::int32_t>(t));
    targets.target.push_back(group.answers[0][t]);
  }
  std::vector<float> log_prob(41, NAN), entropy(41, NAN), one(41, 1.0f);
  model.network->forward(batch);
  model.network->score(targets, 1.0f, log_prob, entropy);
  EXPECT_TRUE(same_bits(log_prob, alone));
  model.network->backward(one, one);
  for (float v : model.gradient.span<float>()) ASSERT_TRUE(std::isfinite(v));
}

}  // namespace
}  // namespace maxplus
