#include "rl/algorithms/kl_controller.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "deck/tables.hpp"

namespace maxplus {

double KlController::next(double coefficient, double divergence, std::int64_t rollouts) const {
  constexpr double kMostError = 0.2;
  const double error = std::clamp(divergence / target - 1, -kMostError, kMostError);
  return coefficient * (1 + error * std::min(static_cast<double>(rollouts) / horizon, 1.0));
}

std::optional<KlController> kl_controller(const AlgorithmTable& table, std::vector<Fault>& faults) {
  if (table.kl_target && table.kl == "none") {
    faults.push_back({"", fmt::format("[algorithm] kl_target = {} has no effect: kl = \"none\"", *table.kl_target),
                      "kl = \"k1\", \"k2\" or \"k3\"", "kl = \"k3\", or remove kl_target"});
  }
  if (table.kl_target && table.kl_coefficient && *table.kl_coefficient == 0) {
    faults.push_back({"", "[algorithm] kl_target with kl_coefficient = 0: what is multiplied stays 0",
                      "a first coefficient above 0", "kl_coefficient = 0.1"});
  }
  if (table.kl_horizon && !table.kl_target) {
    faults.push_back({"", fmt::format("[algorithm] kl_horizon = {} has no effect without kl_target", *table.kl_horizon),
                      "kl_target = the divergence to hold", "remove kl_horizon"});
  }
  if (!table.kl_target) return std::nullopt;
  KlController controller;
  controller.target = *table.kl_target;
  controller.horizon = table.kl_horizon.value_or(controller.horizon);
  return controller;
}

}  // namespace maxplus
