#pragma once
// Published weights wherever they lie (one safetensors file, several, a GGUF file), under their published names.
//
// No values are read when a source is opened. Reading a tensor fills the caller's memory, with a small buffer or from
// the mapped file whose pages are then given back: a load holds the model and at most the tensor that is being read.

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "model/transformer.hpp"

namespace maxplus {

class WeightSource {
 public:
  struct Tensor {
    std::string name;   // as published, whatever the file calls it
    std::string dtype;  // as in the file: "BF16", "Q4_1", ...
    std::vector<std::int64_t> extents;
    std::string where;  // the file that holds it
    std::int64_t elements() const;
  };

  virtual ~WeightSource() = default;
  virtual const std::string& where() const = 0;
  virtual const std::vector<Tensor>& tensors() const = 0;
  // Types that read() knows, for a message.
  virtual std::string readable_types() const = 0;
  virtual bool is_readable(std::size_t tensor) const = 0;
  // Precondition: is_readable(tensor), and `out` has a place for each element.
  virtual void read(std::size_t tensor, std::span<float> out) const = 0;
  // Whether both hold the same bytes in the same type.
  virtual bool are_equal(std::size_t a, std::size_t b) const = 0;
};

// The weights that a configuration asks for, without data. Throws Error(ExitCode::data) when it speaks of more layers
// than `source` has tensors: nothing is allocated by an unchecked number.
class WeightPlan {
 public:
  WeightPlan(const ModelConfig& config, const WeightSource& source);
  const WeightSet& weights() const { return *weights_; }

 private:
  std::unique_ptr<Arena> counted_;
  std::unique_ptr<WeightSet> weights_;
};

// Strict: tensors that are missing, not known, of other extents or of a type that cannot be read are all told, each in
// a line, and then nothing has been loaded. Throws Error(ExitCode::data).
void load_weights(std::shared_ptr<const WeightSource> source, WeightSet& weights);

// Into a network with other heads than the one that `source` holds and `stored` describes: checked as strictly, then
// what both have is read by name. A value head that the source does not have starts at random.
void load_other_heads(std::shared_ptr<const WeightSource> source, const ModelConfig& stored, WeightSet& weights,
                      std::uint64_t seed);
// The same from a network in memory, of the same shape but for its heads.
void copy_other_heads(const Stream& stream, const WeightSet& from, WeightSet& weights, std::uint64_t seed);

// The same check, and then one tensor after the other by its published name: for who passes weights on without holding
// them. `plan` may be without data.
class CheckedWeights {
 public:
  CheckedWeights(std::shared_ptr<const WeightSource> source, const WeightSet& plan);
  // Of plan.parameters()[parameter].
  void read(std::size_t parameter, std::span<float> out) const { source_->read(place_[parameter], out); }

 private:
  std::shared_ptr<const WeightSource> source_;
  std::vector<std::size_t> place_;
};

// A network that is only asked must give numbers: throws Error(ExitCode::data).
[[noreturn]] void refuse_not_finite(const std::string& where);

// WeightSet::hash of these weights, without holding more than one tensor.
std::string hash_of_weights(const CheckedWeights& weights, const WeightSet& plan);

// Older files carry the rotary frequencies of every layer, which follow from the configuration.
bool is_derived_tensor(std::string_view name);

}  // namespace maxplus
