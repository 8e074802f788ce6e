#include "run/checkpoint_weights.hpp"

#include <string>
#include <utility>
#include <vector>

#include "io/checkpoint_file.hpp"
#include "tensor/arena.hpp"

namespace maxplus {

namespace {

constexpr std::string_view kWeightsPrefix = "weights/";

class CheckpointWeights final : public WeightSource {
 public:
  CheckpointWeights(const std::filesystem::path& file, const ModelConfig& config)
      : where_(file.string()), reader_(where_) {
    for (const CheckpointHeader::Tensor& stored : reader_.header().tensors) {
      if (stored.name.starts_with(kWeightsPrefix))
        tensors_.push_back({stored.name.substr(kWeightsPrefix.size()), "F32", {stored.elements}, where_});
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
    reader_.read(std::string(kWeightsPrefix) + tensors_[tensor].name, out);
  }
  bool are_equal(std::size_t a, std::size_t b) const override { return a == b; }

 private:
  std::string where_;
  CheckpointReader reader_;
  std::vector<Tensor> tensors_;
};

}  // namespace

std::unique_ptr<WeightSource> open_checkpoint_weights(const std::filesystem::path& file, const ModelConfig& config) {
  return std::make_unique<CheckpointWeights>(file, config);
}

}  // namespace maxplus
