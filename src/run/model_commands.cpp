#include "run/model_commands.hpp"

#include <algorithm>
#include <fstream>
#include <thread>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/log.hpp"
#include "data/problem_file.hpp"
#include "io/checkpoint_file.hpp"
#include "roles/engine.hpp"
#include "roles/exchange.hpp"
#include "roles/scorer.hpp"
#include "run/judged_programs.hpp"
#include "run/line_input.hpp"
#include "run/machine.hpp"
#include "run/model_source.hpp"
#include "run/replay_file.hpp"
#include "run/text_choice.hpp"
#include "run/training_run.hpp"
#include "text/tokenizer.hpp"
#include "verify/response_text.hpp"

namespace maxplus {

namespace {

constexpr std::int64_t kScoringTokens = 2048;  // of a packed forward
constexpr std::int64_t kDecodingRows = 32;

// An engine that trains nothing.
std::unique_ptr<Engine> inference_engine(EngineShape shape, const OpenedModel& model, const Deck& deck,
                                         const MpiEnvironment& mpi, const Communicator& world) {
  shape.model = model.config;
  shape.arithmetic = common_arithmetic(deck.model.compute, world);
  shape.threads = static_cast<int>(deck.run.threads);
  shape.limits.head_block = head_block_rows(model.config.vocabulary);
  const MemoryPlan plan = Engine::plan(shape, 0, 1);
  require_memory(plan, mpi.ranks_on_node(), world);
  auto engine = std::make_unique<Engine>(shape, 0, 1, waiting_for(mpi, shape.threads));
  model.load(engine->weights());
  engine->policy().pack_weights();
  return engine;
}

// Lines of all ranks, put back into the order of the input: item i was worked on by rank i % ranks.
std::vector<std::string> gather_lines(const Communicator& world, const std::vector<std::string>& mine) {
  std::string joined;
  for (const std::string& line : mine) joined += line + "\n";
  const auto parts = world.gather_all(std::as_bytes(std::span<const char>(joined.data(), joined.size())));
  std::vector<std::vector<std::string>> of_rank;
  std::size_t total = 0;
  for (const std::vector<std::byte>& part : parts) {
    std::vector<std::string> lines;
    std::string line;
    for (std::byte b : part) {
      const char c = static_cast<char>(b);
      if (c == '\n') {
        lines.push_back(std::move(line));
        line.clear();
      } else {
        line += c;
      }
    }
    total += lines.size();
    of_rank.push_back(std::move(lines));
  }
  std::vector<std::string> all;
  for (std::size_t i = 0; i < total; ++i) all.push_back(std::move(of_rank[i % of_rank.size()][i / of_rank.size()]));
  return all;
}

Json float_list(std::span<const float> values, std::size_t first_null) {
  Json list = Json::array();
  for (std::size_t i = 0; i < values.size(); ++i) list.push_back(i < first_null ? Json() : exact_number(values[i]));
  return list;
}

}  // namespace

std::vector<std::string> generate_lines(const Deck& deck, const std::filesystem::path& problems,
                                        const GenerateOptions& options, const MpiEnvironment& mpi,
                                        const Communicator& world) {
  const OpenedModel model = open_deck_model(deck, deck_tokenizer(deck));
  require_tokens(model, deck.model.path);
  ProblemFileOptions reading;
  reading.answer = ProblemFileOptions::Answer::optional;
  reading.max_prompt_tokens = model.config.context - 1;
  const LoadedProblems loaded = [&] {
    try {
      return load_problems(problems, model.tokenizer, reading);
    } catch (const Error& error) {
      rethrow_with_reason(model, error);
    }
  }();
  std::vector<Problem> mine;
  std::vector<std::int64_t> numbers = dealt_to_rank(loaded.source->size(), world.rank(), world.size());
  for (std::int64_t i : numbers) mine.push_back(loaded.source->at(i));

  Generator::Limits limits;
  limits.rows = kDecodingRows;
  limits.group_size = options.samples;
  limits.prompt_tokens = std::max<std::int64_t>(1, longest_prompt(*loaded.source));
  limits.new_tokens = std::min(options.max_new_tokens, model.config.context - 1);
  limits.prefill_tokens = std::clamp<std::int64_t>(limits.prompt_tokens, limits.rows, 1024);
  EngineShape shape;
  shape.generation = limits;
  shape.limits.extend_tokens = limits.prefill_tokens;
  shape.limits.extend_rows = Generator::rows_asked(limits);
  const std::unique_ptr<Engine> engine = inference_engine(shape, model, deck, mpi, world);

  GenerationRule rule;
  const bool greedy = options.choice == GenerateOptions::Choice::greedy;
  rule.sampling.greedy = greedy;
  rule.sampling.inverse_temperature = greedy ? 1.0f : static_cast<float>(1.0 / options.temperature);
  rule.sampling.top_k = greedy ? 0 : static_cast<std::int32_t>(options.top_k);
  rule.sampling.top_p = greedy ? 1.0f : static_cast<float>(options.top_p);
  rule.seed = static_cast<std::uint64_t>(options.seed);
  rule.stop = usual_stop_tokens(model);
  rule.max_new_tokens = options.max_new_tokens;
  std::vector<GenerationRequest> requests;
  for (std::size_t p = 0; p < mine.size(); ++p) {
    GenerationRequest request;
    request.problem = &mine[p];
    request.group = numbers[p];
    request.max_new_tokens = model.config.context - static_cast<std::int64_t>(mine[p].prompt.size());
    for (std::int64_t k = 0; k < options.samples; ++k) {
      request.ids.push_back({0, 0, static_cast<std::uint32_t>(numbers[p]), static_cast<std::uint32_t>(k)});
    }
    requests.push_back(std::move(request));
  }
  const std::vector<Rollout> rollouts = engine->generator().generate(requests, rule, {});
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < rollouts.size(); ++i) {
    lines.push_back(
        generated_line(mine[i / static_cast<std::size_t>(options.samples)], rollouts[i], model.tokenizer.get()));
  }
  // A problem gives `samples` lines: they are gathered problem by problem.
  std::vector<std::string> blocks;
  const auto samples = static_cast<std::size_t>(options.samples);
  for (std::size_t p = 0; p < mine.size(); ++p) {
    std::string block;
    for (std::size_t k = 0; k < samples; ++k)
      block += (k ? std::string(1, '\x1e') : std::string()) + lines[p * samples + k];
    blocks.push_back(std::move(block));
  }
  std::vector<std::string> result;
  for (const std::string& block : gather_lines(world, blocks)) {
    std::size_t begin = 0;
    for (std::size_t end; (end = block.find('\x1e', begin)) != std::string::npos; begin = end + 1)
      result.push_back(block.substr(begin, end - begin));
    result.push_back(block.substr(begin));
  }
  return result;
}

std::vector<std::string> logprob_lines(const Deck& deck, const std::filesystem::path& file, double temperature,
                                       const MpiEnvironment& mpi, const Communicator& world) {
  const OpenedModel model = open_deck_model(deck, deck_tokenizer(deck));
  const std::vector<TokenLine> input = read_encoded_lines(file, model);
  std::vector<std::int64_t> numbers =
      dealt_to_rank(static_cast<std::int64_t>(input.size()), world.rank(), world.size());
  std::int64_t longest = 1;
  for (const TokenLine& line : input) longest = std::max(longest, static_cast<std::int64_t>(line.ids->size()));

  EngineShape shape;
  shape.limits.batch_tokens = std::max(kScoringTokens, longest);
  shape.limits.batch_segments = shape.limits.batch_tokens;
  const std::unique_ptr<Engine> engine = inference_engine(shape, model, deck, mpi, world);
  std::vector<SequenceToScore> sequences;
  for (std::int64_t i : numbers) sequences.push_back({*input[static_cast<std::size_t>(i)].ids, 1});
  std::vector<std::string> lines;
  if (!model.config.token_head) {
    const std::vector<std::vector<float>> value =
        value_sequences(engine->policy(), sequences, shape.limits.batch_tokens, shape.limits.batch_segments);
    for (std::size_t i = 0; i < value.size(); ++i) {
      Json line;
      line["ids"] = *input[static_cast<std::size_t>(numbers[i])].ids;
      line["value"] = float_list(value[i], 0);
      lines.push_back(line.dump());
    }
    return gather_lines(world, lines);
  }
  const std::vector<ScoredSequence> scored =
      score_sequences(engine->policy(), sequences, static_cast<float>(1.0 / temperature), shape.limits.batch_tokens,
                      shape.limits.batch_segments);
  for (std::size_t i = 0; i < scored.size(); ++i) {
    Json line;
    line["ids"] = *input[static_cast<std::size_t>(numbers[i])].ids;
    line["log_prob"] = float_list(scored[i].log_prob, 1);
    line["entropy"] = float_list(scored[i].entropy, 1);
    lines.push_back(line.dump());
  }
  return gather_lines(world, lines);
}

std::vector<std::string> tokenize_lines(const Deck& deck, const std::filesystem::path& file, TokenizeOptions options) {
  std::shared_ptr<const Tokenizer> tokenizer = deck_tokenizer(deck);
  tokenizer = as_deck_writes(deck, tokenizer ? tokenizer : open_tokenizer(deck.model.path));
  const SpecialText meaning =
      options.special == TokenizeOptions::Special::as_text ? SpecialText::as_text : SpecialText::as_tokens;
  const GenerationPrompt generation =
      options.ending == TokenizeOptions::Ending::generation_prompt ? GenerationPrompt::add : GenerationPrompt::none;
  std::vector<std::string> lines;
  for (const TokenLine& line : read_token_lines(file, tokenizer->vocabulary_size())) {
    Json answer;
    if (line.ids) {
      answer["text"] = tokenizer->decode(*line.ids);
    } else {
      const std::vector<std::int32_t> ids = encode_line(line, *tokenizer, meaning, generation);
      Json pieces = Json::array();
      for (const std::int32_t id : ids) pieces.push_back(tokenizer->piece(id));
      answer["ids"] = ids;
      answer["pieces"] = std::move(pieces);
    }
    lines.push_back(answer.dump());
  }
  return lines;
}

EvaluationResult evaluate_deck(const Deck& deck, const std::filesystem::path& path, const MpiEnvironment& mpi,
                               const Communicator& world, std::shared_ptr<const Broker> broker) {
  Deck asked = deck;
  if (!path.empty()) {
    asked.model.path = path.string();
    asked.tokenizer.kind = asked.tokenizer.path = asked.tokenizer.end_token = "";  // chat keys stay
  }
  const RunInputs inputs = open_inputs(asked, InputsFor::evaluation, std::move(broker));
  if (const std::string unsafe = unconfined_warning(inputs.sandbox); !unsafe.empty())
    Log(world.rank(), Verbosity::normal).warning(unsafe);
  if (inputs.held_out.empty()) {
    throw Error(ExitCode::config, Fault{deck.where("data"), "the deck names no held-out problems",
                                        "[data] eval = \"FILE\" or a task", ""});
  }
  EngineShape shape = engine_shape(asked, inputs);
  shape.optimizer.reset();
  shape.drawing.reset();
  shape.reference.reset();
  shape.critic.reset();
  shape.limits.batch_tokens = shape.limits.batch_segments = 0;
  const std::unique_ptr<Engine> engine = inference_engine(shape, inputs.model, asked, mpi, world);
  Assessor assessor(inputs.evaluation_reward, asked.reward.workers, asked.reward.timeout_s, inputs.model.tokenizer);
  EvaluationRequest request = evaluation_request(asked, inputs, 0);
  request.keep = EvaluationRequest::Keep::rollouts;
  EvaluationResult result = evaluate(request, engine->generator(), assessor, world, {});
  if (const std::string crashes = crashes_among(result.rollouts); !crashes.empty())
    Log(world.rank(), Verbosity::normal).warning(crashes);
  for (const Experience& experience : result.rollouts) {
    result.responses.push_back(inputs.model.tokenizer ? response_text(*inputs.model.tokenizer, experience.rollout)
                                                      : std::string());
  }
  return result;
}

}  // namespace maxplus
