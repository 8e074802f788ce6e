#include "network_cases.hpp"

#include <utility>

#include <fmt/format.h>

#include "base/random.hpp"
#include "model/flops.hpp"
#include "rl/algorithms/sft.hpp"
#include "roles/scorer.hpp"
#include "run/machine.hpp"

namespace maxplus::performance {

namespace {

double pairs_of(double tokens) { return tokens * (tokens + 1) / 2; }

struct Prompts {
  std::vector<Problem> problem;
  std::vector<GenerationRequest> request;

  explicit Prompts(std::vector<Tokens> tokens) : problem(tokens.size()) {
    for (std::size_t i = 0; i < problem.size(); ++i) {
      problem[i].id = static_cast<std::int64_t>(i);
      problem[i].prompt = std::move(tokens[i]);
      GenerationRequest one;
      one.problem = &problem[i];
      one.group = problem[i].id;
      one.ids.push_back({0, 0, static_cast<std::uint32_t>(i), 0});
      request.push_back(one);
    }
  }
};

GenerationRule forced(std::int64_t tokens, Drawing drawing) {
  GenerationRule rule;
  rule.max_new_tokens = rule.force_length = tokens;
  rule.sampling.greedy = drawing == Drawing::greedy;
  return rule;
}

double matrix_bytes(const EngineShape& shape) {
  return weight_bytes(shape.arithmetic) *
         static_cast<double>(body_matrix_count(shape.model) + head_matrix_count(shape.model));
}

}  // namespace

ModelConfig smollm2_135m() {
  ModelConfig config;
  config.vocabulary = 49152;
  config.width = 576;
  config.layers = 30;
  config.heads = 9;
  config.kv_heads = 3;
  config.head_width = 64;
  config.ffn_width = 1536;
  config.context = 2048;
  config.tie_embeddings = true;
  config.rotary_theta = 100000.0;
  return config;
}

EngineShape bench_shape(const Setting& setting) {
  EngineShape shape;
  shape.model = setting.model;
  shape.arithmetic = setting.arithmetic;
  shape.limits.batch_tokens = std::max(setting.batch_tokens, setting.micro_batch_tokens + 64);
  shape.limits.batch_segments = 64;
  shape.limits.head_block = head_block_rows(setting.model.vocabulary);
  Generator::Limits generation;
  generation.rows = setting.decoding_rows;
  generation.prompt_tokens = std::max<std::int64_t>(setting.prompt_tokens, 512);
  generation.new_tokens = setting.new_tokens;
  generation.prefill_tokens = setting.decoding_rows * setting.prompt_tokens;
  shape.limits.extend_tokens = generation.prefill_tokens;
  shape.limits.extend_rows = Generator::rows_asked(generation);
  shape.generation = generation;
  OptimizerTable optimizer;
  optimizer.micro_batch_tokens = setting.micro_batch_tokens;
  optimizer.gradient_slices = setting.slices;
  shape.optimizer = optimizer;
  shape.threads = setting.threads;
  return shape;
}

Tokens some_tokens(std::int64_t count, std::uint64_t seed) {
  Tokens tokens;
  for (std::int64_t i = 0; i < count; ++i) {
    tokens.push_back(
        static_cast<std::int32_t>(uniform(seed, Purpose::sampling, 0, static_cast<std::uint64_t>(i)) * 49151.0f));
  }
  return tokens;
}

double weight_bytes(ops::Arithmetic arithmetic) { return arithmetic == ops::Arithmetic::f32 ? 4.0 : 2.0; }

Case decoding_case(Engine& engine, std::vector<Tokens> prompts, std::int64_t new_tokens, Drawing drawing, double ranks,
                   Clock clock) {
  const ModelConfig& config = engine.shape().model;
  const double cache = 8.0 * static_cast<double>(config.layers * config.kv_columns());  // bytes of a position
  const auto length = static_cast<double>(prompts.front().size());
  const double b = static_cast<double>(prompts.size()) * ranks;
  Case made;
  made.name = fmt::format("decode, batch {}", prompts.size());
  for (std::int64_t step = 0; step < new_tokens - 2; ++step) {
    const double seen = length + 2 + static_cast<double>(step);
    made.work.tokens += b;
    made.work.flops += forward_flops(config, b, b * seen, b);
    made.work.bytes += ranks * matrix_bytes(engine.shape()) + b * seen * cache;
  }
  made.prefill.tokens = b * length;
  made.prefill.flops = forward_flops(config, b * length, b * pairs_of(length), b);
  made.prefill.bytes = ranks * matrix_bytes(engine.shape());
  const auto owned = std::make_shared<Prompts>(std::move(prompts));
  made.run = [&engine, owned, new_tokens, drawing, clock] {
    int turn = 0;
    double begin = 0, start = 0;
    engine.generator().generate(owned->request, forced(new_tokens, drawing), [&] {
      if (++turn == 1) begin = now(clock);
      if (turn == 2) start = now(clock);
      return false;
    });
    const double decoding = now(clock) - start;
    // The first turn holds one step of decoding too.
    return Seconds{decoding, start - begin - decoding / static_cast<double>(new_tokens - 2)};
  };
  return made;
}

Case prefill_case(Engine& engine, Tokens prompt, double ranks, Clock clock) {
  const auto tokens = static_cast<double>(prompt.size());
  Case made;
  made.name = fmt::format("prefill of {} tokens", prompt.size());
  made.work.tokens = tokens * ranks;
  made.work.flops = ranks * forward_flops(engine.shape().model, tokens, pairs_of(tokens), 1);
  const auto owned = std::make_shared<Prompts>(std::vector<Tokens>{std::move(prompt)});
  made.run = [&engine, owned, clock] {
    const double start = now(clock);
    engine.generator().generate(owned->request, forced(1, Drawing::sampled), {});
    return Seconds{now(clock) - start, 0};
  };
  return made;
}

Case scoring_case(Engine& engine, std::vector<Tokens> sequences, std::int64_t batch_tokens, double ranks, Clock clock) {
  Case made;
  made.name = fmt::format("scoring of {} sequences", sequences.size());
  for (const Tokens& tokens : sequences) {
    const auto n = static_cast<double>(tokens.size());
    made.work.tokens += n * ranks;
    made.work.flops += ranks * forward_flops(engine.shape().model, n, pairs_of(n), n - 1);
  }
  const auto owned = std::make_shared<std::vector<Tokens>>(std::move(sequences));
  made.run = [&engine, owned, batch_tokens, clock] {
    std::vector<SequenceToScore> list;
    for (const Tokens& tokens : *owned) list.push_back({tokens, 1});
    const double start = now(clock);
    score_sequences(engine.policy(), list, 1.0f, batch_tokens, 64);
    return Seconds{now(clock) - start, 0};
  };
  return made;
}

Case training_case(Engine& engine, const std::vector<Tokens>& sequences, const Communicator& world, Clock clock) {
  const auto ranks = static_cast<double>(world.size());
  Case made;
  made.name = fmt::format("training {} x {}, {} slices", sequences.size(), sequences.front().size() - 1,
                          engine.shape().optimizer->gradient_slices);
  double pairs = 0;
  const auto step = std::make_shared<std::vector<Experience>>();
  for (int rank = 0; rank < world.size(); ++rank) {
    for (const Tokens& tokens : sequences) {
      const auto n = static_cast<double>(tokens.size() - 1);
      made.work.tokens += n;
      pairs += pairs_of(n);
      step->push_back(experience_of_demonstration({tokens.begin(), tokens.begin() + 1},
                                                  {tokens.begin() + 1, tokens.end()}, {},
                                                  static_cast<std::int64_t>(step->size())));
    }
  }
  made.work.flops = training_flops(engine.shape().model, made.work.tokens, pairs, made.work.tokens);
  made.work.bytes = ranks * 28.0 * static_cast<double>(parameter_count(engine.shape().model));
  made.work.bound = Work::Bound::sum;
  made.run = [&engine, step, &world, clock] {
    std::vector<const Experience*> pointers;
    for (const Experience& experience : *step) pointers.push_back(&experience);
    const Sft algorithm;
    StepRequest request;
    request.experiences = pointers;
    request.algorithm = &algorithm;
    request.learning_rate = 1e-5;
    const double start = now(clock);
    engine.trainer().step(request, world, {});
    return Seconds{now(clock) - start, 0};
  };
  return made;
}

}  // namespace maxplus::performance
