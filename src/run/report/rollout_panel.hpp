#pragma once
// The part of the page that shows rollouts of a run, token by token.

#include <string>

#include "run/report/run_record.hpp"

namespace maxplus {

// At most so many tokens of a run are shown; a long response loses its middle.
struct PanelLimits {
  std::size_t tokens = 30'000;       // of all rollouts together
  std::size_t rollout_tokens = 800;  // of one
  std::size_t text_bytes = 6'000;    // of a prompt, and of a response whose tokens are unknown
};

// One iteration is shown at a time, and tokens are coloured by probability or by advantage, as the reader chooses: the
// style sheet does it, without scripts. `number` tells the panels of a page apart. Without a tokenizer a response is
// one piece with the colour of its means. Empty if nothing was recorded.
std::string rollout_panel(const RunRecord& run, std::size_t number, const std::string& heading,
                          const PanelLimits& limits);

inline constexpr int kPanelIterations = 12;  // the style sheet knows so many

}  // namespace maxplus
