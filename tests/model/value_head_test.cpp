// Values of rows and their gradients, alone and beside a head of tokens, and networks whose heads differ.
#include "model/value_head.hpp"

#include <cmath>
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "model/test_model.hpp"
#include "model/weight_source.hpp"

namespace maxplus {
namespace {

enum class Heads { tokens, values, both };

ModelConfig with_heads(ModelConfig config, Heads heads) {
  config.token_head = heads != Heads::values;
  config.value_head = heads != Heads::tokens;
  return config;
}

ModelSetup setup() {
  ModelSetup setup;
  setup.limits = {120, 6, 19, 3, 5};
  return setup;
}

// Two answers to one prompt: the prompt's last row stands twice among the targets.
struct TwoAnswers {
  std::vector<std::int32_t> prompt = some_tokens(21, 3, 37);
  std::vector<std::int32_t> answer[2] = {some_tokens(17, 5, 37), some_tokens(23, 7, 37)};
};

struct Packed {
  TokenBatch batch;
  HeadTargets targets;
};

Packed pack_together(const TwoAnswers& group) {
  Packed packed;
  packed.batch.append(some_tokens(11, 9, 37), -1);  // a stranger
  const std::int32_t prompt = packed.batch.append(group.prompt, -1);
  const auto end = static_cast<std::int32_t>(packed.batch.tokens()) - 1;
  for (const auto& answer : group.answer) {
    packed.targets.row.push_back(end);
    packed.targets.target.push_back(answer[0]);
  }
  for (const auto& answer : group.answer) {
    const auto first = static_cast<std::int32_t>(packed.batch.tokens());
    packed.batch.append(std::span(answer).first(answer.size() - 1), prompt);
    for (std::size_t t = 1; t < answer.size(); ++t) {
      packed.targets.row.push_back(first + static_cast<std::int32_t>(t) - 1);
      packed.targets.target.push_back(answer[t]);
    }
  }
  return packed;
}

Packed pack_alone(const TwoAnswers& group, int a) {
  Packed packed;
  std::vector<std::int32_t> tokens = group.prompt;
  tokens.insert(tokens.end(), group.answer[a].begin(), group.answer[a].end() - 1);
  packed.batch.append(tokens, -1);
  for (std::size_t t = 0; t < group.answer[a].size(); ++t) {
    packed.targets.row.push_back(static_cast<std::int32_t>(group.prompt.size() - 1 + t));
    packed.targets.target.push_back(group.answer[a][t]);
  }
  return packed;
}

std::vector<float> values_of(TestModel& model, const Packed& packed) {
  std::vector<float> values(packed.targets.row.size(), NAN);
  model.network->forward(packed.batch);
  model.network->values(packed.targets.row, values);
  return values;
}

std::vector<float> some_weights(std::size_t count, float phase) {
  std::vector<float> weight(count);
  for (std::size_t n = 0; n < count; ++n) weight[n] = std::sin(phase + 1.7f * static_cast<float>(n));
  return weight;
}

std::vector<float> copied(TensorView view) {
  const auto values = view.span<float>();
  return {values.begin(), values.end()};
}

// The largest distance against the largest number.
double distance(std::span<const float> a, std::span<const float> b) {
  double largest = 0, worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(b[i])));
    const double gap = std::abs(static_cast<double>(a[i]) - b[i]);
    worst = gap <= worst ? worst : gap;  // a NaN counts as worst
  }
  return a.size() == b.size() && largest > 0 ? worst / largest : INFINITY;
}

// With head rows w of token 1 and 0 of token 0, log p(1) - log p(0) is the value of a score w: two computations of one
// number, of which the other is held to published gradients.
void check_against_log_probabilities(const std::string& family) {
  ModelConfig config = odd_config_of(family);
  config.tie_embeddings = false;
  config.logit_cap = 0;
  TestModel critic(with_heads(config, Heads::values), setup()), tokens(with_heads(config, Heads::tokens), setup());
  critic.initialise_everything(4);
  tokens.initialise_everything(4);
  const auto score = critic.weights.find(kScoreWeight)->weight.span<float>();
  for (std::size_t i = 0; i < score.size(); ++i) score[i] = std::cos(static_cast<float>(i));
  const auto head = tokens.weights.find("lm_head.weight")->weight.span<float>();
  std::fill(head.begin(), head.begin() + static_cast<std::ptrdiff_t>(score.size()), 0.0f);
  std::copy(score.begin(), score.end(), head.begin() + static_cast<std::ptrdiff_t>(score.size()));
  critic.network->pack_weights();
  tokens.network->pack_weights();

  const Packed packed = pack_alone(TwoAnswers(), 1);
  const std::vector<float> values = values_of(critic, packed), weight = some_weights(values.size(), 0.3f);
  critic.network->backward({{}, {}, weight});
  HeadTargets pairs;
  std::vector<float> d_log_prob;
  for (std::size_t n = 0; n < values.size(); ++n) {
    for (const std::int32_t target : {1, 0}) {
      pairs.row.push_back(packed.targets.row[n]);
      pairs.target.push_back(target);
      d_log_prob.push_back(target == 1 ? weight[n] : -weight[n]);
    }
  }
  std::vector<float> log_prob(pairs.row.size()), entropy(pairs.row.size()), zero(pairs.row.size(), 0.0f);
  tokens.network->forward(packed.batch);
  tokens.network->score(pairs, 1.0f, log_prob, entropy);
  tokens.network->backward(d_log_prob, zero);
  constexpr double kDifferenceTolerance = 2e-5;  // two orders of the same f32 sums
  std::vector<float> differences(values.size());
  for (std::size_t n = 0; n < values.size(); ++n) differences[n] = log_prob[2 * n] - log_prob[2 * n + 1];
  EXPECT_LE(distance(values, differences), kDifferenceTolerance) << family;
  for (const Parameter& parameter : critic.weights.parameters()) {
    if (parameter.name == kScoreWeight) {
      const auto row = tokens.weights.find("lm_head.weight")->gradient.rows(1, 1);
      EXPECT_LE(distance(parameter.gradient.span<float>(), row.span<float>()), kDifferenceTolerance) << family;
    } else {
      EXPECT_LE(distance(parameter.gradient.span<float>(), tokens.weights.find(parameter.name)->gradient.span<float>()),
                kDifferenceTolerance)
          << family << " " << parameter.name;
    }
  }
}

TEST(ValueHead, IsADifferenceOfLogProbabilitiesWithTheSameGradients) {
  for (const std::string& family : family_names()) check_against_log_probabilities(family);
}

TEST(ValueHead, HasTheGradientOfACentralDifference) {
  TestModel model(with_heads(odd_config(false), Heads::values), setup());
  model.initialise_everything(4);
  const Packed packed = pack_together(TwoAnswers());
  const std::vector<float> weight = some_weights(packed.targets.row.size(), 1.1f);
  const auto sum = [&] {
    double total = 0;
    const std::vector<float> values = values_of(model, packed);
    for (std::size_t n = 0; n < values.size(); ++n) total += static_cast<double>(weight[n]) * values[n];
    return total;
  };
  sum();
  model.network->backward({{}, {}, weight});
  const std::vector<float> before = copied(model.weights.all()), gradient = copied(model.gradient);
  const auto direction = [](std::size_t i) { return std::sin(0.37 * static_cast<double>(i)); };
  double along = 0;
  for (std::size_t i = 0; i < before.size(); ++i) along += static_cast<double>(gradient[i]) * direction(i);
  const auto central = [&](double step) {
    double at[2];
    for (const int side : {0, 1}) {
      const auto now = model.weights.all().span<float>();
      for (std::size_t i = 0; i < before.size(); ++i)
        now[i] = before[i] + static_cast<float>((side == 0 ? step : -step) * direction(i));
      model.network->pack_weights();
      at[side] = sum();
    }
    return (at[0] - at[1]) / (2 * step);
  };
  // Richardson's extrapolation takes the third derivative away.
  const double slope = (4 * central(5e-4) - central(1e-3)) / 3;
  constexpr double kSlopeTolerance = 2e-3;  // f32 sums over twice the step
  EXPECT_GT(std::abs(along), 1);
  EXPECT_NEAR(slope, along, kSlopeTolerance * std::abs(along));
}

TEST(ValueHead, GivesTheSameBitsPackedAndAlone) {
  for (const std::string& family : family_names()) {
    for (const ops::Arithmetic arithmetic : {ops::Arithmetic::f32, ops::Arithmetic::bf16_dot}) {
      ModelSetup with = setup();
      with.arithmetic = arithmetic;
      TestModel model(with_heads(odd_config_of(family), Heads::values), with);
      model.initialise_everything(6);
      const TwoAnswers group;
      const std::vector<float> together = values_of(model, pack_together(group));
      std::vector<float> ordered[2];
      for (std::size_t n = 0; n < together.size(); ++n) {
        const std::size_t first = group.answer[0].size() + 1;  // two first tokens, then the rest of each answer
        ordered[n < 2 ? n : n < first ? 0 : 1].push_back(together[n]);
      }
      for (const int a : {0, 1}) {
        EXPECT_TRUE(same_bits(ordered[a], values_of(model, pack_alone(group, a)))) << family << " " << a;
        for (const float value : ordered[a]) ASSERT_TRUE(std::isfinite(value));
      }
    }
  }
}

TEST(ValueHead, AddsTheSameGradientsFromOneBatchAndFromTwo) {
  TestModel model(with_heads(odd_config(true), Heads::values), setup());
  model.initialise_everything(6);
  const TwoAnswers group;
  Packed both;
  std::vector<float> weight[2], all;
  for (const int a : {0, 1}) {
    const Packed one = pack_alone(group, a);
    for (const std::int32_t row : one.targets.row)
      both.targets.row.push_back(row + static_cast<std::int32_t>(both.batch.tokens()));
    both.batch.append(one.batch.token, -1);
    weight[a] = some_weights(one.targets.row.size(), static_cast<float>(a));
    all.insert(all.end(), weight[a].begin(), weight[a].end());
  }
  values_of(model, both);
  model.network->backward({{}, {}, all});
  const std::vector<float> packed = copied(model.gradient);
  model.clear_gradient();
  for (const int a : {0, 1}) {
    values_of(model, pack_alone(group, a));
    model.network->backward({{}, {}, weight[a]});
  }
  EXPECT_TRUE(same_bits(model.gradient.span<float>(), packed));
}

void check_shared_trunk(const std::string& family) {
  TestModel model(with_heads(odd_config_of(family), Heads::both), setup());
  TestModel critic(with_heads(odd_config_of(family), Heads::values), setup());
  model.initialise_everything(8);
  copy_other_heads(critic.stream, model.weights, critic.weights, 1);
  critic.network->pack_weights();
  const Packed packed = pack_together(TwoAnswers());
  const std::size_t count = packed.targets.row.size();
  std::vector<float> log_prob(count), entropy(count), values(count);
  const std::vector<float> d_log_prob = some_weights(count, 0.1f), d_entropy = some_weights(count, 0.5f),
                           d_value = some_weights(count, 0.9f);
  std::vector<std::vector<float>> gradient;
  const std::pair<bool, bool> asked[] = {{true, true}, {true, false}, {false, true}};
  for (const auto& [of_tokens, of_values] : asked) {
    model.clear_gradient();
    model.network->forward(packed.batch);
    if (of_tokens) model.network->score(packed.targets, 1.0f, log_prob, entropy);
    if (of_values) model.network->values(packed.targets.row, values);
    Transformer::TargetGradients gradients;
    if (of_tokens) gradients = {d_log_prob, d_entropy, {}};
    if (of_values) gradients.value = d_value;
    model.network->backward(gradients);
    gradient.push_back(copied(model.gradient));
  }
  std::vector<float> sum(gradient[0].size());
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = gradient[1][i] + gradient[2][i];
  constexpr double kTrunkTolerance = 1e-5;  // sums in another order
  EXPECT_LE(distance(gradient[0], sum), kTrunkTolerance) << family;
  EXPECT_TRUE(same_bits(values, values_of(critic, packed))) << family;
  critic.clear_gradient();
  critic.network->backward({{}, {}, d_value});
  for (const Parameter& parameter : critic.weights.parameters()) {
    const auto offset = model.weights.find(parameter.name)->weight.as<float>() - model.weights.all().as<float>();
    EXPECT_TRUE(
        same_bits(parameter.gradient.span<float>(),
                  std::span(gradient[2])
                      .subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(parameter.global_size()))))
        << family << " " << parameter.name;
  }
}

TEST(ValueHead, OnASharedTrunkGivesTheSumOfBothGradients) {
  for (const std::string& family : family_names()) check_shared_trunk(family);
}

TEST(ValueHead, TakesExactlyWhatCountingArenasMeasure) {
  for (const Heads heads : {Heads::values, Heads::both}) {
    for (const Transformer::Use use : {Transformer::Use::inference, Transformer::Use::training}) {
      ModelSetup with = setup();
      with.use = use;
      TestModel model(with_heads(odd_config(true), heads), with);
      EXPECT_EQ(model.packed.used(), model.packed.capacity());
      EXPECT_EQ(model.activations.used(), model.activations.capacity());
      EXPECT_EQ(model.weight_arena.used(), model.weight_arena.capacity());
    }
  }
}

TEST(ValueHead, RefusesGradientsOfOtherRowsThanTheTokensHave) {
  TestModel model(with_heads(odd_config(true), Heads::both), setup());
  model.initialise(8);
  const Packed packed = pack_alone(TwoAnswers(), 0);
  const std::size_t count = packed.targets.row.size();
  std::vector<float> log_prob(count), entropy(count), zero(count, 0.0f), value(count - 1);
  model.network->forward(packed.batch);
  model.network->score(packed.targets, 1.0f, log_prob, entropy);
  model.network->values(std::span(packed.targets.row).first(count - 1), value);
  EXPECT_THROW(model.network->backward({zero, zero, value}), Error);
}

TEST(ValueHead, StartsAtValuesNearZeroAndIsTheSameInEveryNetwork) {
  const ModelConfig config = odd_config(false);
  TestModel critic(with_heads(config, Heads::values), setup()), both(with_heads(config, Heads::both), setup()),
      tokens(with_heads(config, Heads::tokens), setup());
  critic.initialise(3);
  both.initialise(3);
  tokens.initialise(3);
  const auto score = critic.weights.find(kScoreWeight)->weight.span<float>();
  EXPECT_TRUE(same_bits(score, both.weights.find(kScoreWeight)->weight.span<float>()));
  for (const float weight : score) EXPECT_LT(std::abs(weight), 5.0f / static_cast<float>(config.width + 1));
  const std::vector<float> before = copied(critic.weights.all());
  copy_other_heads(critic.stream, tokens.weights, critic.weights, 3);
  EXPECT_TRUE(same_bits(before, critic.weights.all().span<float>()));
  EXPECT_EQ(critic.weights.find("lm_head.weight"), nullptr);
  EXPECT_EQ(parameter_count(both.weights.config()), parameter_count(tokens.weights.config()) + config.width);
}

// Published form.

std::filesystem::path classifier_folder(const std::string& name) {
  const auto folder = std::filesystem::path(::testing::TempDir()) / ("value_head_" + name);
  std::filesystem::remove_all(folder);
  return folder;
}

TEST(Classifier, ComesBackAsItWasWrittenInEveryFamily) {
  for (const std::string& family : family_names()) {
    TestModel written(with_heads(odd_config_of(family), Heads::values), setup());
    written.initialise_everything(5);
    const auto folder = classifier_folder(family);
    write_hf_folder(folder, written.weights);
    const ModelConfig config = read_hf_config(folder);
    EXPECT_TRUE(config.value_head && !config.token_head) << family;
    TestModel read(config, setup());
    load_hf_weights(folder, read.weights);
    EXPECT_EQ(read.weights.hash(), written.weights.hash()) << family;
  }
}

TEST(Classifier, WithTwoLabelsIsRefusedByName) {
  std::ifstream in(golden_model("llama") / "config.json");
  const nlohmann::json golden = nlohmann::json::parse(in);
  const auto labels = [&](const nlohmann::json& keys) -> std::string {
    nlohmann::json json = golden;
    json["architectures"] = {"LlamaForSequenceClassification"};
    json.update(keys);
    try {
      read_model_config(json, "config.json");
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::data);
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(labels({{"id2label", {{"0", "LABEL_0"}}}}), "");
  EXPECT_EQ(labels({{"num_labels", 1}}), "");
  EXPECT_NE(labels(nlohmann::json::object()).find("'num_labels' is 2"), std::string::npos);
  EXPECT_NE(labels({{"num_labels", 3}}).find("'num_labels' is 3"), std::string::npos);
  EXPECT_NE(labels({{"id2label", {{"0", "a"}, {"1", "b"}}}}).find("'num_labels' is 2"), std::string::npos);
  EXPECT_NE(labels({{"id2label", "one"}}).find("'num_labels' is 0"), std::string::npos);
}

TEST(Classifier, TakesTheLayersOfALanguageModelAndStartsItsScore) {
  for (const char* name : {"llama", "llama_tied_ropescaled"}) {
    TestModel critic(with_heads(read_hf_config(golden_model(name)), Heads::values), setup());
    load_other_heads(open_hf_weights(golden_model(name)), read_hf_config(golden_model(name)), critic.weights, 11);
    TestModel tokens(read_hf_config(golden_model(name)), setup());
    load_hf_weights(golden_model(name), tokens.weights);
    for (const Parameter& parameter : critic.weights.parameters()) {
      if (parameter.name == kScoreWeight) continue;
      EXPECT_TRUE(same_bits(parameter.weight.span<float>(), tokens.weights.find(parameter.name)->weight.span<float>()));
    }
    const std::vector<float> score = copied(critic.weights.find(kScoreWeight)->weight);
    critic.initialise(11);
    EXPECT_TRUE(same_bits(score, critic.weights.find(kScoreWeight)->weight.span<float>()));
  }
}

}  // namespace
}  // namespace maxplus
