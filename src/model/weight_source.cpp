#include "model/weight_source.hpp"

#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/strings.hpp"

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
    if (name == kTiedHead && weights.config().tie_embeddings) {  // a tied file may repeat the embedding
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

void load_weights(const WeightSource& source, WeightSet& weights) {
  Places places;
  for (std::size_t i = 0; i < source.tensors().size(); ++i) places.emplace(source.tensors()[i].name, i);
  std::vector<Fault> faults = compare_with_family(source, places, weights);
  if (!faults.empty()) throw Error(ExitCode::data, std::move(faults));
  for (const Parameter& parameter : weights.parameters())
    source.read(places.at(parameter.name), parameter.weight.span<float>());
}

}  // namespace maxplus
