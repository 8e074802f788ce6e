#pragma once
// What it takes to train a network, whatever its loss: gradients over the slices of a step, their sum over ranks,
// AdamW.
//
// The step is cut into slices that know nothing of ranks; a rank works on its slices and GradientSum adds them in one
// order. So the weights after a step have the same bits on any number of ranks up to the number of slices.

#include <algorithm>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "deck/tables.hpp"
#include "model/transformer.hpp"
#include "optim/adamw.hpp"
#include "parallel/gradient_sync.hpp"
#include "rl/packing.hpp"
#include "tensor/arena.hpp"

namespace maxplus {

enum class OnNotFinite { stop, skip };

// How a step is carried out, whatever it minimises.
struct StepManner {
  double learning_rate = 0;
  OnNotFinite on_not_finite = OnNotFinite::stop;
  GroupCut cut = GroupCut::anywhere;
  std::string what = "optimizer step";  // of errors
};

class Learner {
 public:
  Learner(Transformer& network, WeightSet& weights, const OptimizerTable& table, const Stream& stream, Arena& gradients,
          Arena& moments, int data_rank, int data_ranks);

  // One optimizer step (collective). `micro_batch` runs forward and backward of some rollouts of the step, adding to
  // the bound gradients; `beat` is called between two of them. Throws Error(ExitCode::numeric), with the weights
  // untouched, when the gradient is not finite and OnNotFinite::stop is asked for.
  UpdateReport step(std::span<const Experience* const> experiences, const StepManner& manner,
                    const Communicator& data_ranks, const std::function<void(const RolloutList&)>& micro_batch,
                    const std::function<void()>& beat);

  // Called with the summed gradient [elements, tied folded] of each step before clipping.
  std::function<void(TensorView gradient)> on_gradient;

  AdamW& optimizer() { return optimizer_; }
  // A fresh one: moments zero, no steps taken.
  void reset_optimizer();

 private:
  Transformer& network_;
  WeightSet& weights_;
  OptimizerTable table_;
  const Stream& stream_;
  GradientSum sum_;
  TensorView total_;
  AdamW optimizer_;
};

// What all ranks say of a step's rollouts (each a plain struct with a `rollout`), in rollout order.
template <class Record>
std::vector<Record> gather_records(const std::vector<Record>& mine, const Communicator& ranks) {
  std::vector<Record> all;
  for (const std::vector<std::byte>& part : ranks.gather_all(std::as_bytes(std::span<const Record>(mine)))) {
    const std::size_t before = all.size();
    all.resize(before + part.size() / sizeof(Record));
    if (!part.empty()) std::memcpy(static_cast<void*>(all.data() + before), part.data(), part.size());
  }
  std::sort(all.begin(), all.end(), [](const Record& a, const Record& b) { return a.rollout < b.rollout; });
  return all;
}

}  // namespace maxplus
