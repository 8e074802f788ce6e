#include "run/checkpoint_weights.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "io/checkpoint_file.hpp"
#include "model/families/family.hpp"
#include "tensor/arena.hpp"

namespace maxplus {

namespace {

constexpr const char *kWeightsPrefix = "weights/", *kCriticPrefix = "critic/";

class CheckpointWeights final : public WeightSource {
 public:
  CheckpointWeights(const std::filesystem::path& file, const ModelConfig& config, CheckpointNetwork network)
      : where_(file.string()), reader_(where_), prefix_(kWeightsPrefix) {
    const auto& stored_tensors = reader_.header().tensors;
    const bool own = std::any_of(stored_tensors.begin(), stored_tensors.end(),
                                 [](const auto& tensor) { return tensor.name.starts_with(kCriticPrefix); });
    if (network == CheckpointNetwork::critic && own) prefix_ = kCriticPrefix;
    // A network with two heads is read as either.
    const auto is_other_head = [&](const std::string& name) {
      return (!config.value_head && name == prefix_ + kScoreWeight) ||
             (!config.token_head && name == prefix_ + "lm_head.weight");
    };
    for (const CheckpointHeader::Tensor& stored : reader_.header().tensors) {
      if (stored.name.starts_with(prefix_) && !is_other_head(stored.name))
        tensors_.push_back({stored.name.substr(prefix_.size()), "F32", {stored.elements}, where_});
    }
    const WeightPlan plan(config, *this);
    for (Tensor& tensor : tensors_) {
      const Parameter* parameter = plan.weights().find(tensor.name);
      if (parameter != nullptr && parameter->global_size() == tensor.extents[0])
        tensor.extents = parameter->global_extents;
    }
  }

  const std::string& where() const override { return where_; }
  const std::vector<Tensor>& tensors() const override { return tensors_; }
  std::string readable_types() const override { return "F32"; }
  bool is_readable(std::size_t) const override { return true; }
  void read(std::size_t tensor, std::span<float> out) const override {
    reader_.read(prefix_ + tensors_[tensor].name, out);
  }
  bool are_equal(std::size_t a, std::size_t b) const override { return a == b; }

 private:
  std::string where_;
  CheckpointReader reader_;
  std::string prefix_;
  std::vector<Tensor> tensors_;
};

}  // namespace

std::unique_ptr<WeightSource> open_checkpoint_weights(const std::filesystem::path& file, const ModelConfig& config,
                                                      CheckpointNetwork network) {
  return std::make_unique<CheckpointWeights>(file, config, network);
}

}  // namespace maxplus
