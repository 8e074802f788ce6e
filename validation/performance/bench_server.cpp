// Runs whole-network work on request, so that a script can let this program and others take turns (validation/peers).
//
//   [mpirun -n RANKS] bench_server MODEL_FOLDER TOKENS_JSON f32|bf16 THREADS SLICES
//
// A request is a line on the standard input, its answer a line of JSON on the standard output. TOKENS_JSON holds
// {"prompts": [[...], ...], "training": [[...], ...]}. Requests:
//
//   {"case": "decode", "rows": 8, "new_tokens": 64}       the first 8 prompts, greedy
//   {"case": "training", "sequences": 4, "tokens": 256}   forward, backward, AdamW; 256 targets a sequence
//   {"case": "log_prob", "tokens": 128}                   of the first training sequence, for comparing results
//   {"case": "probe"}                                     the limits now
//
// Answers hold seconds of wall clock of the slowest rank, tokens, and flops and bytes that the work cannot avoid.

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "comm/environment.hpp"
#include "device/runtime.hpp"
#include "model/hf_folder.hpp"
#include "network_cases.hpp"
#include "roles/scorer.hpp"

namespace {

using namespace maxplus;
using namespace maxplus::performance;

constexpr int kProbeSamples = 60;  // some 30 ms of each kind

class Server {
 public:
  Server(const Communicator& world, const Json& tokens, const Setting& setting, const std::string& folder,
         Stream::Waiting waiting)
      : world_(world),
        tokens_(tokens),
        engine_(bench_shape(setting), world.rank(), world.size(), waiting),
        stream_(setting.threads, waiting),
        probe_(stream_, setting.arithmetic) {
    load_hf_weights(folder, engine_.weights());
    engine_.policy().pack_weights();
  }

  Json answer(const Json& request) {
    const std::string name = request.at("case");
    if (name == "probe") return probe();
    if (name == "log_prob") return log_prob(request.at("tokens"));
    const auto ranks = static_cast<double>(world_.size());
    if (name == "decode") {
      return measure(decoding_case(engine_, first(tokens_.at("prompts"), request.at("rows"), 0),
                                   request.at("new_tokens"), Drawing::greedy, ranks, Clock::wall));
    }
    if (name == "training") {
      const std::int64_t sequences = request.at("sequences");
      const std::size_t length = request.at("tokens");
      return measure(training_case(engine_, first(tokens_.at("training"), sequences / world_.size(), length + 1),
                                   world_, Clock::wall));
    }
    return {{"error", "unknown case " + name}};
  }

 private:
  // The first `count` lists, of which the first `length` tokens; 0: all.
  static std::vector<Tokens> first(const Json& lists, std::int64_t count, std::size_t length) {
    std::vector<Tokens> taken;
    for (std::int64_t i = 0; i < count; ++i) {
      taken.push_back(lists.at(static_cast<std::size_t>(i)).get<Tokens>());
      if (length > 0) taken.back().resize(length);
    }
    return taken;
  }

  Json measure(const Case& work) {
    world_.barrier();
    const double processor = now(Clock::processor);
    const Seconds mine = work.run();
    double slowest[2] = {mine.counted, mine.prefill}, used[1] = {now(Clock::processor) - processor};
    world_.maximum(slowest);
    world_.sum(used);
    Json answer = {{"seconds", slowest[0]},    {"tokens", work.work.tokens},
                   {"flops", work.work.flops}, {"bytes", work.work.bytes},
                   {"processor_s", used[0]},   {"adds", work.work.bound == Work::Bound::sum}};
    if (work.prefill.tokens > 0) {
      answer["prefill"] = {{"seconds", slowest[1]},
                           {"tokens", work.prefill.tokens},
                           {"flops", work.prefill.flops},
                           {"bytes", work.prefill.bytes}};
    }
    return answer;
  }

  Json probe() {
    world_.barrier();
    std::vector<double> arithmetic, reading;
    for (int i = 0; i < kProbeSamples; ++i) {
      double start = now(Clock::wall);
      probe_.multiply_add();
      arithmetic.push_back(now(Clock::wall) - start);
      start = now(Clock::wall);
      probe_.read();
      reading.push_back(now(Clock::wall) - start);
    }
    double rates[2] = {probe_.flops() / median(arithmetic), probe_.bytes() / median(reading)};
    world_.sum(rates);
    return {{"flops", rates[0]}, {"bytes", rates[1]}};
  }

  Json log_prob(std::size_t count) {
    Tokens tokens = first(tokens_.at("training"), 1, count).front();
    const SequenceToScore sequence{tokens, 1};
    return {{"log_prob", score_sequences(engine_.policy(), {&sequence, 1}, 1.0f, 1024, 64).front().log_prob}};
  }

  const Communicator& world_;
  const Json& tokens_;
  Engine engine_;
  Stream stream_;
  Probe probe_;
};

// The next line of rank 0's standard input on all ranks; empty at its end.
std::string next_line(const Communicator& world) {
  std::string line;
  if (world.rank() == 0 && !std::getline(std::cin, line)) line.clear();
  auto length = static_cast<std::uint64_t>(line.size());
  world.broadcast(&length, sizeof length, 0);
  line.resize(length);
  if (length > 0) world.broadcast(line.data(), length, 0);
  return line;
}

}  // namespace

int main(int argc, char** argv) {
  MpiEnvironment mpi(&argc, &argv);
  if (argc != 6) {
    fmt::print(stderr, "usage: [mpirun -n RANKS] bench_server MODEL_FOLDER TOKENS_JSON f32|bf16 THREADS SLICES\n");
    return 64;
  }
  DeviceRuntime runtime;
  const Communicator world = mpi.world(Communicator::Checking::off);
  Setting setting;
  setting.model = read_hf_config(argv[1]);
  setting.arithmetic = std::string(argv[3]) == "bf16" ? ops::native_bf16() : ops::Arithmetic::f32;
  setting.threads = std::atoi(argv[4]);
  setting.slices = std::atoi(argv[5]);
  const Json tokens = Json::parse(std::ifstream(argv[2]));
  const bool crowded = mpi.ranks_on_node() * setting.threads > static_cast<int>(std::thread::hardware_concurrency());
  Server server(world, tokens, setting, argv[1], crowded ? Stream::Waiting::sleep : Stream::Waiting::spin_briefly);
  if (world.rank() == 0) {
    const Json ready = {
        {"name", "maxplus"},
        {"version", fmt::format("{} ranks x {} threads, {} slices", world.size(), setting.threads, setting.slices)},
        {"processor", processor_name()},
        {"instruction_set", instruction_set()},
        {"arithmetic", ops::name_of(setting.arithmetic)}};
    fmt::print("{}\n", ready.dump());
    std::fflush(stdout);
  }
  for (std::string line = next_line(world); !line.empty(); line = next_line(world)) {
    const Json answer = server.answer(Json::parse(line));
    if (world.rank() != 0) continue;
    fmt::print("{}\n", answer.dump());
    std::fflush(stdout);
  }
  return 0;
}
