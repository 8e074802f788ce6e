// The network against the golden models: logits, log-probabilities, entropies, loss and gradients, packed or one by
// one.
#include "model/transformer.hpp"

#include <cmath>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "model/test_model.hpp"

namespace maxplus {
namespace {

// Of golden/README.md: ten times what another f32 implementation was measured to differ from f64
constexpr float kLogitTolerance = 1e-4f, kTiedLogitTolerance = 2e-4f, kLogProbTolerance = 1e-4f;
constexpr double kLossTolerance = 3e-4, kGradientTolerance = 3e-5;

const char* const kModels[] = {"llama", "llama_tied_ropescaled", "llama_even", "qwen2", "qwen3", "mistral", "gemma2"};

ModelSetup golden_setup() {
  ModelSetup setup;
  setup.limits = {170, 3, 64, 4, 7};
  return setup;
}

// All predicted tokens of a segment that stands at first_row.
void add_targets(HeadTargets& targets, std::span<const std::int32_t> tokens, std::int32_t first_row) {
  for (std::size_t t = 1; t < tokens.size(); ++t) {
    targets.row.push_back(first_row + static_cast<std::int32_t>(t) - 1);
    targets.target.push_back(tokens[t]);
  }
}

struct Scores {
  explicit Scores(std::size_t count) : log_prob(count, NAN), entropy(count, NAN) {}
  std::vector<float> log_prob, entropy;
};

Scores score(TestModel& model, const TokenBatch& batch, const HeadTargets& targets, float inverse_temperature) {
  Scores scores(targets.row.size());
  model.network->forward(batch);
  model.network->score(targets, inverse_temperature, scores.log_prob, scores.entropy);
  return scores;
}

// The packed batch of the three golden sequences: scores, and gradients of the weighted loss.
struct GoldenRun {
  std::vector<GoldenSequence> sequences;
  Scores scores{0};
  std::vector<float> d_log_prob;
};
GoldenRun run_packed(TestModel& model, const SafetensorsFile& reference) {
  GoldenRun run;
  TokenBatch batch;
  HeadTargets targets;
  for (int i = 0; i < 3; ++i) {
    run.sequences.push_back(golden_sequence(reference, i));
    const GoldenSequence& sequence = run.sequences.back();
    add_targets(targets, sequence.tokens, static_cast<std::int32_t>(batch.tokens()));
    run.d_log_prob.insert(run.d_log_prob.end(), sequence.weight.begin() + 1, sequence.weight.end());
    batch.append(sequence.tokens, -1);
  }
  run.scores = score(model, batch, targets, 1.0f);
  const std::vector<float> zero(run.d_log_prob.size(), 0.0f);
  model.clear_gradient();
  model.network->backward(run.d_log_prob, zero);
  return run;
}

TEST(Transformer, GivesTheGoldenLogitsTokenByToken) {
  for (const char* name : kModels) {
    const ModelConfig config = read_hf_config(golden_model(name));
    TestModel model(config, golden_setup());
    model.load(golden_model(name));
    const SafetensorsFile reference(golden_model(name) / "reference.safetensors");
    Arena arena("cache", static_cast<std::size_t>(7 * KvCache::bytes_per_page(config)) + 64, Space::host);
    KvCache cache(config, 7, arena);
    const float tolerance = config.tie_embeddings ? kTiedLogitTolerance : kLogitTolerance;
    for (int i = 0; i < 3; ++i) {
      const GoldenSequence golden = golden_sequence(reference, i);
      KvCache::Sequence sequence;
      float worst = 0;
      for (std::size_t t = 0; t < golden.tokens.size(); ++t) {
        ASSERT_TRUE(cache.reserve(sequence, 1));
        const Transformer::Extension extension{&sequence, {&golden.tokens[t], 1}};
        const auto logits = model.network->extend(cache, {&extension, 1}).span<float>();
        for (std::size_t j = 0; j < logits.size(); ++j) {
          const float gap = std::abs(logits[j] - golden.logits[t * logits.size() + j]);
          worst = gap <= worst ? worst : gap;  // a NaN counts as worst
        }
      }
      EXPECT_LE(worst, tolerance) << name << " sequence " << i;
      cache.release(sequence);
    }
  }
}

TEST(Transformer, GivesTheGoldenLogProbabilitiesEntropiesAndLoss) {
  for (const char* name : kModels) {
    TestModel model(read_hf_config(golden_model(name)), golden_setup());
    model.load(golden_model(name));
    const GoldenRun run = run_packed(model, SafetensorsFile(golden_model(name) / "reference.safetensors"));
    double loss = 0, golden_loss = 0;
    std::size_t n = 0;
    for (const GoldenSequence& sequence : run.sequences) {
      for (std::size_t t = 1; t < sequence.tokens.size(); ++t, ++n) {
        ASSERT_NEAR(run.scores.log_prob[n], sequence.log_prob[t], kLogProbTolerance) << name << " token " << t;
        ASSERT_NEAR(run.scores.entropy[n], sequence.entropy[t - 1], kLogProbTolerance) << name << " token " << t;
        loss += static_cast<double>(run.d_log_prob[n]) * run.scores.log_prob[n];
        golden_loss += static_cast<double>(sequence.weight[t]) * sequence.log_prob[t];
      }
    }
    EXPECT_NEAR(loss, golden_loss, kLossTolerance) << name;
  }
}

// The framework that made the golden gradients gives the row of a padding token none for its look-ups.
void drop_lookups_of_padding(TestModel& model, const char* name) {
  std::ifstream in(golden_model(name) / "config_v5.json");
  const nlohmann::json padding = nlohmann::json::parse(in).value("pad_token_id", nlohmann::json());
  if (padding.is_number()) ops::fill(model.stream, model.weights.parameters()[0].gradient.rows(padding, 1), 0.0f);
}

TEST(Transformer, GivesTheGoldenGradients) {
  for (const char* name : kModels) {
    TestModel model(read_hf_config(golden_model(name)), golden_setup());
    model.load(golden_model(name));
    const SafetensorsFile reference(golden_model(name) / "reference.safetensors");
    run_packed(model, reference);
    drop_lookups_of_padding(model, name);
    model.weights.fold_tied_gradient(model.stream, model.gradient);
    for (const Parameter& parameter : model.weights.parameters()) {
      const SafetensorsEntry* entry = reference.find("grad." + parameter.name);
      ASSERT_NE(entry, nullptr) << parameter.name;
      std::vector<float> golden(static_cast<std::size_t>(entry->elements()));
      reference.read_f32(*entry, golden);
      const auto ours = parameter.gradient.span<float>();
      ASSERT_EQ(ours.size(), golden.size());
      double largest = 0, worst = 0;
      for (std::size_t i = 0; i < golden.size(); ++i) {
        largest = std::max(largest, std::abs(static_cast<double>(golden[i])));
        const double gap = std::abs(static_cast<double>(ours[i]) - golden[i]);
        worst = gap <= worst ? worst : gap;
      }
      EXPECT_LE(worst, kGradientTolerance * largest) << name << " " << parameter.name;
    }
  }
}

TEST(Transformer, GivesTheSameBitsPackedAndOneByOne) {
  for (const char* name : kModels) {
    TestModel model(read_hf_config(golden_model(name)), golden_setup());
    model.load(golden_model(name));
    const GoldenRun run = run_packed(model, SafetensorsFile(golden_model(name) / "reference.safetensors"));
    const auto all = model.gradient.span<float>();
    const std::vector<float> packed(all.begin(), all.end());
    model.clear_gradient();
    std::size_t n = 0;
    for (const GoldenSequence& sequence : run.sequences) {
      TokenBatch batch;
      HeadTargets targets;
      batch.append(sequence.tokens, -1);
      add_targets(targets, sequence.tokens, 0);
      const std::size_t count = targets.row.size();
      const Scores alone = score(model, batch, targets, 1.0f);
      EXPECT_TRUE(same_bits(alone.log_prob, std::span(run.scores.log_prob).subspan(n, count))) << name;
      EXPECT_TRUE(same_bits(alone.entropy, std::span(run.scores.entropy).subspan(n, count))) << name;
      const std::vector<float> zero(count, 0.0f);
      model.network->backward(std::span(run.d_log_prob).subspan(n, count), zero);
      n += count;
    }
    // chains over tokens go on from call to call, so the gradients have the same bits as well
    EXPECT_TRUE(same_bits(all, packed)) << name;
  }
}

TEST(Transformer, TakesExactlyWhatCountingArenasMeasure) {
  for (const std::string& family : family_names()) {
    for (const Transformer::Use use : {Transformer::Use::inference, Transformer::Use::training}) {
      ModelSetup setup;
      setup.limits = {53, 5, 19, 3, 8};
      setup.use = use;
      TestModel model(odd_config_of(family), setup);
      EXPECT_EQ(model.packed.used(), model.packed.capacity());
      EXPECT_EQ(model.activations.used(), model.activations.capacity());
      EXPECT_EQ(model.weight_arena.used(), model.weight_arena.capacity());
      EXPECT_GT(model.activations.used(), 0u);
    }
  }
}

TEST(Transformer, GivesTheSameBitsOnOneAndTwoThreads) {
  for (const char* name : {"llama", "qwen2", "qwen3", "mistral", "gemma2"}) {
    for (const ops::Arithmetic arithmetic : {ops::Arithmetic::f32, ops::Arithmetic::bf16_dot}) {
      std::vector<std::vector<float>> gradients, log_probs;
      for (const int threads : {1, 2}) {
        ModelSetup setup = golden_setup();
        setup.threads = threads;
        setup.arithmetic = arithmetic;
        TestModel model(read_hf_config(golden_model(name)), setup);
        model.load(golden_model(name));
        const GoldenRun run = run_packed(model, SafetensorsFile(golden_model(name) / "reference.safetensors"));
        const auto all = model.gradient.span<float>();
        gradients.emplace_back(all.begin(), all.end());
        log_probs.push_back(run.scores.log_prob);
      }
      EXPECT_TRUE(same_bits(gradients[0], gradients[1])) << name;
      EXPECT_TRUE(same_bits(log_probs[0], log_probs[1])) << name;
    }
  }
}

// The root mean square of logits about their mean in a row.
double spread_of_logits(const std::vector<GoldenSequence>& sequences, std::int64_t vocabulary) {
  double squares = 0, count = 0;
  for (const GoldenSequence& sequence : sequences) {
    for (auto row = sequence.logits.begin(); row != sequence.logits.end(); row += vocabulary) {
      double mean = 0;
      for (std::int64_t j = 0; j < vocabulary; ++j)
        mean += static_cast<double>(row[j]) / static_cast<double>(vocabulary);
      for (std::int64_t j = 0; j < vocabulary; ++j) squares += std::pow(static_cast<double>(row[j]) - mean, 2);
      count += static_cast<double>(vocabulary);
    }
  }
  return std::sqrt(squares / count);
}

// The bound of src/README.md: in a product each factor is rounded to 8 bits, a relative error of 2^-8 / m for a
// mantissa m in [1, 2), root mean square 2^-8 * 0.42; with two factors, e = 0.0024 of the product's own size. A logit
// lies behind the 7 products of each of L layers, and the head's: sqrt(7 L + 1) e of the logits' spread. A
// log-probability is the difference of two such numbers: times sqrt(2). The largest of 170 tokens, whose rows do not
// all have the same spread: five deviations.
double half_precision_bound(const ModelConfig& config, double spread) {
  constexpr double kProductError = 0.0024, kDeviations = 5;
  return kDeviations * std::sqrt(2.0 * (7.0 * static_cast<double>(config.layers) + 1.0)) * kProductError * spread;
}

TEST(Transformer, InHalfPrecisionStaysWithinTheStatedBound) {
  for (const char* name : kModels) {
    ModelSetup setup = golden_setup();
    setup.arithmetic = ops::Arithmetic::bf16_dot;
    const ModelConfig config = read_hf_config(golden_model(name));
    TestModel model(config, setup);
    model.load(golden_model(name));
    const GoldenRun run = run_packed(model, SafetensorsFile(golden_model(name) / "reference.safetensors"));
    const double bound = half_precision_bound(config, spread_of_logits(run.sequences, config.vocabulary));
    std::size_t n = 0;
    double worst = 0;
    for (const GoldenSequence& sequence : run.sequences) {
      for (std::size_t t = 1; t < sequence.tokens.size(); ++t, ++n) {
        const double gap = std::abs(static_cast<double>(run.scores.log_prob[n]) - sequence.log_prob[t]);
        worst = gap <= worst ? worst : gap;
      }
    }
    EXPECT_LE(worst, bound) << name;
    EXPECT_GT(worst, bound / 100) << name << ": the products were not rounded";
  }
}

TEST(Transformer, OfAnEmptyBatchDoesNothing) {
  ModelSetup setup;
  setup.limits = {20, 4, 5, 2, 3};
  TestModel model(odd_config(true), setup);
  model.initialise(1);
  TokenBatch empty, hollow;
  hollow.append({}, -1);
  hollow.append({}, 0);
  for (const TokenBatch& batch : {empty, hollow}) {
    const Scores scores = score(model, batch, {}, 1.0f);
    EXPECT_TRUE(scores.log_prob.empty());
    model.network->backward({}, {});
  }
  // tokens, but nothing asked for
  TokenBatch batch;
  batch.append(some_tokens(7, 1, 37), -1);
  score(model, batch, {}, 1.0f);
  model.network->backward({}, {});
  for (float v : model.gradient.span<float>()) ASSERT_EQ(v, 0.0f);
  Arena arena("cache", static_cast<std::size_t>(KvCache::bytes_per_page(odd_config(true))) + 64, Space::host);
  KvCache cache(odd_config(true), 1, arena);
  EXPECT_EQ(model.network->extend(cache, {}).extent(0), 0);
}

TEST(Transformer, ZeroGradientsOfTokensGiveExactlyZero) {
  ModelSetup setup;
  setup.limits = {40, 2, 0, 0, 4};
  TestModel model(odd_config(false), setup);
  model.initialise(2);
  const std::vector<std::int32_t> tokens = some_tokens(31, 5, 37);
  TokenBatch batch;
  batch.append(tokens, -1);
  HeadTargets targets;
  add_targets(targets, tokens, 0);
  const Scores scores = score(model, batch, targets, 1.0f);
  for (float v : scores.log_prob) EXPECT_TRUE(std::isfinite(v));
  const std::vector<float> zero(targets.row.size(), 0.0f);
  model.network->backward(zero, zero);
  for (float v : model.gradient.span<float>()) ASSERT_EQ(v, 0.0f);
}

// The gradient of the entropies along a direction against a central difference.
void check_gradient_of_entropies(const std::string& family) {
  ModelSetup setup;
  setup.limits = {40, 2, 0, 0, 4};
  TestModel model(odd_config_of(family), setup);
  model.initialise_everything(3);
  const std::vector<std::int32_t> tokens = some_tokens(25, 9, 37);
  TokenBatch batch;
  batch.append(tokens, -1);
  HeadTargets targets;
  add_targets(targets, tokens, 0);
  const std::vector<float> zero(targets.row.size(), 0.0f), one(targets.row.size(), 1.0f);
  score(model, batch, targets, 1.25f);
  model.network->backward(zero, one);
  model.weights.fold_tied_gradient(model.stream, model.gradient);
  const auto weights = model.weights.all().span<float>();
  const auto gradient = model.gradient.span<float>().first(weights.size());
  const std::vector<float> start(weights.begin(), weights.end());
  double norm = 0;
  for (float g : gradient) norm += static_cast<double>(g) * g;
  norm = std::sqrt(norm);
  constexpr double kStep = 2e-3;  // of weights; the sum's f32 rounding over it stays below the tolerance
  const auto entropy_at = [&](double step) {
    for (std::size_t i = 0; i < weights.size(); ++i)
      weights[i] = static_cast<float>(start[i] + step * gradient[i] / norm);
    model.network->pack_weights();
    double sum = 0;
    for (float e : score(model, batch, targets, 1.25f).entropy) sum += e;
    return sum;
  };
  const double slope = (entropy_at(kStep) - entropy_at(-kStep)) / (2 * kStep);
  constexpr double kSlopeTolerance = 1e-2;  // relative: curvature, and f32 sums of 24 entropies near 3.6 over 4e-3
  EXPECT_NEAR(slope, norm, kSlopeTolerance * norm) << family;
}
TEST(Transformer, GivesTheGradientOfEntropies) {
  for (const std::string& family : family_names()) check_gradient_of_entropies(family);
}

}  // namespace
}  // namespace maxplus
