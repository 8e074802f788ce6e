#pragma once
// Lines of the command `score`: {"id", "response", "answer", "prompt", "finish", …} in, the same with "reward",
// "verdict" and "extracted" out.

#include <string>
#include <string_view>

#include "verify/verifier.hpp"
#include "verify/verifier_pool.hpp"

namespace maxplus {

struct ScoreLine {
  Json line;       // as read
  JudgeItem item;  // what the verifier sees
};

// Throws Error(ExitCode::data) with `where` ("file:line"). An "id" may be a number or text.
ScoreLine read_score_line(std::string_view text, const std::string& where);

// The line with the verdict added, without a line feed. Fields of these names that it had are replaced.
std::string scored_line(Json line, const Assessment& assessment);

// Both at once, for one line.
std::string score_line(const Verifier& verifier, std::string_view text, const std::string& where);

}  // namespace maxplus
