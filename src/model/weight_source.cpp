#include "model/weight_source.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/fingerprint.hpp"
#include "base/strings.hpp"
#include "model/families/family.hpp"
#include "ops/elementwise.hpp"

namespace maxplus {

namespace {

constexpr const char* kEmbedding = "model.embed_tokens.weight";
constexpr const char* kTiedHead = "lm_head.weight";

std::string extents_text(const std::vector<std::int64_t>& extents) {
  return fmt::format("[{}]", fmt::join(extents, ", "));
}

using Places = std::map<std::string_view, std::size_t>;

std::vector<Fault> compare_with_family(const WeightSource& source, const Places& places, const WeightSet& weights) {
  std::vector<Fault> faults;
  const auto fault = [&](const std::string& where, std::string found, std::string expected) {
    faults.push_back({where, std::move(found), std::move(expected), ""});
  };
  std::map<std::string_view, bool> known;
  for (const Parameter& parameter : weights.parameters()) {
    known[parameter.name] = true;
    const auto place = places.find(parameter.name);
    if (place == places.end()) {
      fault(source.where(), fmt::format("tensor '{}' is missing", parameter.name),
            "extents " + extents_text(parameter.global_extents));
      continue;
    }
    const WeightSource::Tensor& tensor = source.tensors()[place->second];
    if (tensor.extents != parameter.global_extents) {
      fault(tensor.where, fmt::format("tensor '{}' has extents {}", tensor.name, extents_text(tensor.extents)),
            extents_text(parameter.global_extents) + ", as the configuration says");
    } else if (!source.is_readable(place->second)) {
      fault(tensor.where, fmt::format("tensor '{}' has type {}", tensor.name, tensor.dtype), source.readable_types());
    }
  }
  for (const auto& [name, index] : places) {
    const WeightSource::Tensor& tensor = source.tensors()[index];
    if (known.contains(name) || is_derived_tensor(name)) continue;
    if (name == kTiedHead && weights.config().tied()) {  // a tied file may repeat the embedding
      const auto table = places.find(kEmbedding);
      if (table == places.end() || !source.are_equal(index, table->second))
        fault(tensor.where, "tensor 'lm_head.weight' differs from the embedding", "equal: the configuration ties them");
      continue;
    }
    fault(tensor.where, fmt::format("tensor '{}' is not part of a {}", shorten(name, 80), weights.config().family),
          "only the family's tensors");
  }
  return faults;
}

}  // namespace

std::int64_t WeightSource::Tensor::elements() const {
  std::int64_t product = 1;
  for (std::int64_t extent : extents) product *= extent;
  return product;
}

bool is_derived_tensor(std::string_view name) { return name.ends_with(".rotary_emb.inv_freq"); }

WeightPlan::WeightPlan(const ModelConfig& config, const WeightSource& source) {
  if (config.layers > static_cast<std::int64_t>(source.tensors().size())) {
    throw Error(ExitCode::data, Fault{source.where(), fmt::format("holds {} tensors", source.tensors().size()),
                                      fmt::format("{} layers, as the configuration says", config.layers), ""});
  }
  counted_ = std::make_unique<Arena>("weights");
  weights_ = std::make_unique<WeightSet>(config, *counted_);
}

CheckedWeights::CheckedWeights(std::shared_ptr<const WeightSource> source, const WeightSet& plan)
    : source_(std::move(source)) {
  Places places;
  for (std::size_t i = 0; i < source_->tensors().size(); ++i) places.emplace(source_->tensors()[i].name, i);
  std::vector<Fault> faults = compare_with_family(*source_, places, plan);
  if (!faults.empty()) throw Error(ExitCode::data, std::move(faults));
  for (const Parameter& parameter : plan.parameters()) place_.push_back(places.at(parameter.name));
}

void load_weights(std::shared_ptr<const WeightSource> source, WeightSet& weights) {
  const CheckedWeights checked(std::move(source), weights);
  for (std::size_t i = 0; i < weights.parameters().size(); ++i)
    checked.read(i, weights.parameters()[i].weight.span<float>());
}

namespace {

// Calls take(i, j) for weight i of `weights` that is number j of `from`; what only a value head has starts at random.
template <class Take>
void take_by_name(const WeightSet& from, WeightSet& weights, std::uint64_t seed, const Take& take) {
  const std::span<const Parameter> known = from.parameters();
  for (std::size_t i = 0; i < weights.parameters().size(); ++i) {
    const Parameter& wanted = weights.parameters()[i];
    const Parameter* found = from.find(wanted.name);
    if (found != nullptr) {
      MAXPLUS_REQUIRE(found->global_extents == wanted.global_extents, "networks of one shape");
      take(i, static_cast<std::size_t>(found - known.data()));
    } else {
      MAXPLUS_REQUIRE(wanted.name == kScoreWeight, "only a value head may be missing");
      weights.initialise_value_head(seed);
    }
  }
}

}  // namespace

void load_other_heads(std::shared_ptr<const WeightSource> source, const ModelConfig& stored, WeightSet& weights,
                      std::uint64_t seed) {
  const WeightPlan plan(stored, *source);
  const CheckedWeights checked(std::move(source), plan.weights());
  take_by_name(plan.weights(), weights, seed, [&](std::size_t to, std::size_t from) {
    checked.read(from, weights.parameters()[to].weight.span<float>());
  });
}

void copy_other_heads(const Stream& stream, const WeightSet& from, WeightSet& weights, std::uint64_t seed) {
  take_by_name(from, weights, seed, [&](std::size_t to, std::size_t number) {
    ops::copy(stream, weights.parameters()[to].weight, from.parameters()[number].weight);
  });
}

void refuse_not_finite(const std::string& where) {
  throw Error(ExitCode::data,
              Fault{where, "holds weights that are not finite", "numbers", "another copy of the model"});
}

std::string hash_of_weights(const CheckedWeights& weights, const WeightSet& plan) {
  std::vector<std::size_t> order(plan.parameters().size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return plan.parameters()[a].name < plan.parameters()[b].name; });
  Fingerprint hash;
  std::vector<float> values;
  for (const std::size_t i : order) {
    values.resize(static_cast<std::size_t>(plan.parameters()[i].global_size()));
    weights.read(i, values);
    hash.add(values.data(), values.size() * sizeof(float));
  }
  return hash.text();
}

}  // namespace maxplus
