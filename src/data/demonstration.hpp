#pragma once
// Demonstrations for the supervised warm start: a prompt, a response that ends with its stop token, and how much each
// response token counts in the loss.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "data/bad_lines.hpp"
#include "text/tokenizer.hpp"

namespace maxplus {

struct Demonstration {
  std::int64_t number = 0;
  std::vector<std::int32_t> prompt;
  std::vector<std::int32_t> response;  // the stop token included
  std::vector<float> weight;           // a response token, >= 0
};

class DemonstrationSource {
 public:
  virtual ~DemonstrationSource() = default;
  virtual std::int64_t size() const = 0;
  virtual Demonstration at(std::int64_t number) const = 0;  // a function of the number only
  virtual std::string hash() const = 0;
};

struct LoadedDemonstrations {
  std::shared_ptr<const DemonstrationSource> source;
  std::int64_t lines = 0, skipped = 0;
  std::string skip_summary;
};

// JSONL of {"prompt": text, "response": text} or {"prompt_ids", "response_ids"}, optional "weights": a number a
// response token. A prompt is one user turn where
// the tokenizer has a chat template. To a response given as text the end token is added (with weight 1, if weights are
// given without one for it); response_ids stand as they are. Together at most `context` tokens (0: no limit). Throws as
// load_problems does.
LoadedDemonstrations load_demonstrations(const std::filesystem::path& path,
                                         const std::shared_ptr<const Tokenizer>& tokenizer, std::int64_t context,
                                         OnBadLine on_bad_line);

}  // namespace maxplus
