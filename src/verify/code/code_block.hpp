#pragma once
// The program in a response.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace maxplus {

// The inside of the last complete fenced block that names one of the languages; without one, of the last complete block
// that names none. A block that is not closed is none.
std::optional<std::string> last_code_block(std::string_view response, const std::vector<std::string>& languages);

}  // namespace maxplus
