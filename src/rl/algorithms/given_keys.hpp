#pragma once
// The keys of a deck's [algorithm] that are given and that some rule has no meaning for.

#include <string>
#include <vector>

namespace maxplus {

struct AlgorithmTable;  // deck/tables.hpp

struct GivenKey {
  std::string name, value;
};

std::vector<GivenKey> given_keys(const AlgorithmTable& table);

inline constexpr const char* kPreferenceKeys[] = {"beta",        "label_smoothing",  "margin",
                                                  "length_mean", "desirable_weight", "undesirable_weight"};

inline constexpr const char* kCriticKeys[] = {
    "gamma", "lambda", "lambda_length", "value_clip", "value_coefficient", "value_iterations", "positive_coefficient"};

}  // namespace maxplus
