#include "run/checkpointing.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "deck/deck.hpp"
#include "model/model_config.hpp"
#include "run/build_info.hpp"
#include "run/engine_shape.hpp"
#include "tensor/arena.hpp"

namespace maxplus {

namespace {

// A network of a checkpoint as all ranks know it that write one, and what this rank holds of it.
struct StoredNetwork {
  Role role;
  const char* group;
  const char* moments;  // what the names of their groups begin with; null: of a frozen network
  ModelConfig config;
  WeightSet* weights = nullptr;
  AdamW* optimizer = nullptr;
};

std::vector<StoredNetwork> stored_networks(const Deck& deck, const RunInputs& inputs, Engine& engine) {
  const EngineShape shape = engine_shape(deck, inputs);  // of a rank with all roles
  std::vector<StoredNetwork> networks = {{Role::actor, "weights", "", shape.model}};
  if (engine.trains())
    networks.back().weights = &engine.weights(), networks.back().optimizer = &engine.trainer().optimizer();
  if (shape.reference && deck.reference && deck.reference->path == "policy")
    networks.push_back({Role::reference, "reference", nullptr, shape.reference->model, engine.reference_weights()});
  if (shape.critic) {
    CriticTrainer* const trainer = engine.critic_trainer();
    networks.push_back({Role::critic, "critic", "critic_", shape.critic->model, engine.critic_weights(),
                        trainer != nullptr ? &trainer->optimizer() : nullptr});
  }
  return networks;
}

// Calls take(name, elements, values): of a network that this rank does not hold without values.
template <class Take>
void visit_tensors(const StoredNetwork& network, const Take& take) {
  Arena counted("names");
  const WeightSet plan(network.config, counted);
  const auto group = [&](const std::string& name, TensorView all) {
    for (std::size_t i = 0; i < plan.parameters().size(); ++i) {
      const Parameter& p = plan.parameters()[i];
      std::span<float> values;
      if (network.weights != nullptr) {
        // Moments lie as the weights do: at the parameter's place in the block.
        const WeightSet& weights = *network.weights;
        const std::int64_t offset = weights.parameters()[i].weight.as<float>() - weights.all().as<float>();
        values = {all.as<float>() + offset, static_cast<std::size_t>(p.global_size())};
      }
      take(name + "/" + p.name, p.global_size(), values);
    }
  };
  group(network.group, network.weights != nullptr ? network.weights->all() : TensorView());
  if (network.moments == nullptr) return;
  AdamW* const optimizer = network.optimizer;
  group(network.moments + std::string("first_moment"), optimizer != nullptr ? optimizer->first_moment() : TensorView());
  group(network.moments + std::string("second_moment"),
        optimizer != nullptr ? optimizer->second_moment() : TensorView());
}

// Among the ranks that learn those that have a role; none where all have it.
std::vector<int> holders_of(const RoleMap& map, Role role) {
  std::vector<int> holders;
  int place = 0;
  for (int rank = 0; rank < map.ranks(); ++rank) {
    if (!map.learns(rank)) continue;
    if (map.has(role, rank)) holders.push_back(place);
    ++place;
  }
  if (std::ssize(holders) == place) holders.clear();
  return holders;
}

// Bytes in a checkpoint: a tensor, and the number that tells how many.
struct StoredBytes {
  const char *tensor, *count;
};
constexpr StoredBytes kWaiting{"waiting/rollouts", "waiting_bytes"};
constexpr StoredBytes kParked{"parked/rollouts", "parked_bytes"};
constexpr StoredBytes kLengths{"lengths/seen", "lengths_bytes"};
constexpr std::size_t kBytesOfNumber = 3;  // a float holds every whole number below 2^24

// Of a checkpoint without any: none.
std::vector<std::byte> read_bytes(const std::string& path, const CheckpointHeader& header, const StoredBytes& stored,
                                  const Communicator& actors) {
  const auto size = header.integers.find(stored.count);
  if (size == header.integers.end()) return {};
  const auto bytes = static_cast<std::size_t>(size->second);
  std::vector<float> numbers((bytes + kBytesOfNumber - 1) / kBytesOfNumber);
  const CheckpointTarget target{stored.tensor, numbers};
  read_checkpoint(path, actors.handle(), {&target, 1});
  return bytes_of_numbers(numbers, bytes);
}

// `numbers` must live as long as the contents.
void add_bytes(const StoredBytes& stored, std::span<const std::byte> bytes, std::vector<float>* numbers,
               CheckpointContents* contents) {
  *numbers = numbers_of_bytes(bytes);
  contents->tensors.push_back({stored.tensor, *numbers});
  contents->integers[stored.count] = std::ssize(bytes);
}

std::vector<Experience> unpack_parked(std::span<const std::byte> bytes) {
  return bytes.empty() ? std::vector<Experience>() : unpack(bytes.data(), bytes.size());
}

// What ranks that learn hold of a run: each role reads for itself.
void load_networks(const std::string& path, const std::string& weights_hash, const RunState& state, const Deck& deck,
                   const RunInputs& inputs, Engine& engine, const RoleGroups& groups) {
  for (const StoredNetwork& network : stored_networks(deck, inputs, engine)) {
    if (!groups.has(network.role)) continue;
    std::vector<CheckpointTarget> targets;
    visit_tensors(network, [&targets](const std::string& name, std::int64_t, std::span<float> values) {
      targets.push_back({name, values});
    });
    read_checkpoint(path, groups.of(network.role).handle(), targets);
    if (network.role == Role::actor && network.weights->hash() != weights_hash) {
      throw Error(ExitCode::data, Fault{path, "the weights read do not have the hash that was stored", weights_hash,
                                        "an older checkpoint: [run] resume = \"PATH\""});
    }
    if (network.optimizer != nullptr)
      network.optimizer->set_steps(network.role == Role::actor ? state.optimizer_step : state.critic_optimizer_step);
  }
}

}  // namespace

std::vector<float> numbers_of_bytes(std::span<const std::byte> bytes) {
  std::vector<float> numbers;
  numbers.reserve(bytes.size() / kBytesOfNumber + 1);
  for (std::size_t at = 0; at < bytes.size(); at += kBytesOfNumber) {
    std::uint32_t number = 0;
    for (std::size_t i = 0; i < std::min(kBytesOfNumber, bytes.size() - at); ++i)
      number |= std::to_integer<std::uint32_t>(bytes[at + i]) << (8 * i);
    numbers.push_back(static_cast<float>(number));
  }
  return numbers;
}

std::vector<std::byte> bytes_of_numbers(std::span<const float> numbers, std::size_t count) {
  std::vector<std::byte> bytes;
  bytes.reserve(count);
  for (const float value : numbers) {
    const auto number = static_cast<std::uint32_t>(value);
    for (std::size_t i = 0; i < kBytesOfNumber && bytes.size() < count; ++i)
      bytes.push_back(static_cast<std::byte>((number >> (8 * i)) & 0xFF));
  }
  return bytes;
}

std::string inputs_record(const RunInputs& inputs, ops::Arithmetic arithmetic, std::optional<ops::Arithmetic> drawing) {
  nlohmann::ordered_json record;
  if (inputs.train) record["train problems"] = inputs.train->hash();
  if (inputs.model.tokenizer) record["tokenizer"] = inputs.model.tokenizer->hash();
  record["network"] = write_model_config(inputs.model.config).dump();
  if (inputs.critic) record["critic"] = write_model_config(inputs.critic->config).dump();
  if (inputs.reference) record["reference"] = inputs.reference_hash;
  if (inputs.reward_model) record["reward model"] = inputs.reward_model_hash;
  record["arithmetic"] = ops::name_of(arithmetic);
  if (drawing) record["arithmetic of drawing"] = ops::name_of(*drawing);
  return record.dump();
}

std::vector<Fault> changed_inputs(const std::string& path, const std::string& before, const std::string& now) {
  std::vector<Fault> faults;
  const auto then = nlohmann::json::parse(before), found = nlohmann::json::parse(now);
  for (const auto& [name, value] : found.items()) {
    if (then.contains(name) && then[name] == value) continue;
    const bool of_machine = name.rfind("arithmetic", 0) == 0;
    faults.push_back(
        {path,
         of_machine ? fmt::format("the processors here compute in {}, so the bits would change", value.dump())
                    : fmt::format("the {} differs from what this run was begun with", name),
         then.value(name, nlohmann::json()).dump(),
         of_machine ? "processors of the same kind, or another [run] out" : "the same files, or another [run] out"});
  }
  return faults;
}

CheckpointReport save_run_checkpoint(const std::string& folder, const RunState& state, const Deck& deck,
                                     const RunInputs& inputs, Engine& engine, const RoleGroups& groups,
                                     const UnderWay& rollouts, std::set<std::string>* verified) {
  std::string weights_hash = groups.trains() ? engine.weights().hash() : "";
  groups.account().pass(&weights_hash);
  if (!groups.learns()) return {};
  CheckpointContents contents;
  contents.iteration = state.iteration;
  for (const StoredNetwork& network : stored_networks(deck, inputs, engine)) {
    const std::vector<int> holders = holders_of(groups.map(), network.role);
    visit_tensors(network, [&](const std::string& name, std::int64_t elements, std::span<float> values) {
      contents.tensors.push_back({name, values, elements, holders});
    });
    if (network.role == Role::critic) contents.texts[kCriticConfigText] = write_model_config(network.config).dump();
  }
  std::vector<float> waiting, parked, lengths;
  if (!rollouts.waiting.empty()) add_bytes(kWaiting, pack_collected(rollouts.waiting), &waiting, &contents);
  if (!rollouts.parked.empty()) {
    const std::vector<Experience> groups_parked(rollouts.parked.begin(), rollouts.parked.end());
    add_bytes(kParked, pack(groups_parked), &parked, &contents);
  }
  if (!rollouts.lengths.empty()) add_bytes(kLengths, rollouts.lengths, &lengths, &contents);
  contents.state = state.to_json().dump();
  contents.texts[kModelConfigText] = write_model_config(inputs.model.config).dump();
  if (inputs.model.tokenizer) contents.texts[kTokenizerText] = inputs.model.tokenizer->to_json().dump();
  for (const auto& [name, text] : inputs.model.companions) contents.texts[kCompanionPrefix + name] = text;
  contents.texts[kDeckText] = effective_deck(deck);
  contents.texts[kDeckRecordText] = deck_record(deck).dump();
  contents.texts[kWeightsHashText] = weights_hash;
  contents.texts[kInputsText] = inputs_record(inputs, engine.shape().arithmetic, engine.shape().drawing);
  contents.texts["program"] = version_text();
  CheckpointSettings settings;
  settings.keep = static_cast<int>(deck.run.keep_checkpoints);
  settings.verify = deck.run.verify_checkpoint == "full" ? CheckpointVerify::full : CheckpointVerify::sample;
  return write_checkpoint(folder, groups.learners().handle(), contents, settings, *verified);
}

LoadedRun load_run_checkpoint(const std::string& path, const Deck& deck, const RunInputs& inputs, Engine& engine,
                              const RoleGroups& groups) {
  const CheckpointHeader header = read_checkpoint(path, groups.world().handle(), {});
  std::vector<Fault> faults;
  const auto text = [&header, &path](const char* name) {
    const auto found = header.texts.find(name);
    if (found == header.texts.end())
      throw Error(ExitCode::data,
                  Fault{path, fmt::format("the checkpoint holds no '{}'", name), "a checkpoint of a run", ""});
    return found->second;
  };
  const Deck before = deck_of_record(nlohmann::json::parse(text(kDeckRecordText)), path);
  for (const std::string& difference : differing_keys(before, deck)) {
    faults.push_back({path, fmt::format("the deck differs from the one this run was begun with: {}", difference), "",
                      "the deck of the run folder (deck.toml), or another [run] out"});
  }
  for (Fault& fault : changed_inputs(path, text(kInputsText),
                                     inputs_record(inputs, engine.shape().arithmetic, engine.shape().drawing)))
    faults.push_back(std::move(fault));
  if (!faults.empty()) throw Error(ExitCode::config, std::move(faults));

  LoadedRun run;
  run.state = RunState::from_json(nlohmann::json::parse(header.state));
  load_networks(path, text(kWeightsHashText), run.state, deck, inputs, engine, groups);
  if (groups.trains()) {
    run.waiting = unpack_collected(read_bytes(path, header, kWaiting, groups.actors()));
    run.parked = unpack_parked(read_bytes(path, header, kParked, groups.actors()));
    run.lengths = read_bytes(path, header, kLengths, groups.actors());
  }
  if (groups.account().is_needed()) {
    std::vector<std::byte> bytes = groups.trains() ? pack_collected(run.waiting) : std::vector<std::byte>();
    groups.account().pass(&bytes);
    if (!groups.trains()) run.waiting = unpack_collected(bytes);
    bytes = groups.trains() ? pack(run.parked) : std::vector<std::byte>();
    groups.account().pass(&bytes);
    if (!groups.trains()) run.parked = unpack_parked(bytes);
    groups.account().pass(&run.lengths);
  }
  return run;
}

}  // namespace maxplus
