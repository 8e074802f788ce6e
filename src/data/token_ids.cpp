#include "data/token_ids.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "text/utf8.hpp"

namespace maxplus {

std::vector<std::int32_t> token_ids(const Json& list, const std::string& key, const Tokenizer* tokenizer,
                                    const std::string& where) {
  if (!list.is_array() || list.empty()) {
    throw Error(ExitCode::data, Fault{where, fmt::format("'{}' is not a list of token ids", key),
                                      "at least one integer", "repair the line"});
  }
  std::vector<std::int32_t> ids;
  for (const Json& id : list) {
    const bool fits = id.is_number_integer() && !(id.is_number_unsigned() && id.get<std::uint64_t>() > INT32_MAX) &&
                      id.get<std::int64_t>() >= 0 && id.get<std::int64_t>() <= INT32_MAX;
    if (!fits || (tokenizer != nullptr && !tokenizer->contains(id.get<std::int32_t>()))) {
      throw Error(ExitCode::data,
                  Fault{where, fmt::format("{} in '{}' is no token id", in_quotes(id.dump()), key),
                        tokenizer == nullptr ? std::string("integers from 0")
                                             : fmt::format("integers from 0 to {}", tokenizer->vocabulary_size() - 1),
                        "use the model's tokenizer"});
    }
    ids.push_back(id.get<std::int32_t>());
  }
  return ids;
}

}  // namespace maxplus
