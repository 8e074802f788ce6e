// Searching a response from its end.
#include "verify/extraction.hpp"

#include "text/utf8.hpp"

namespace maxplus {

std::optional<std::string_view> last_answer_tag(std::string_view response) {
  constexpr std::string_view kOpen = "<answer>", kClose = "</answer>";
  const std::size_t close = response.rfind(kClose);
  if (close == std::string_view::npos) return std::nullopt;
  const std::size_t open = response.substr(0, close).rfind(kOpen);
  if (open == std::string_view::npos) return std::nullopt;
  const std::size_t begin = open + kOpen.size();
  return response.substr(begin, close - begin);
}

std::optional<std::string_view> last_box(std::string_view response) {
  constexpr std::string_view kOpen = "\\boxed{";
  for (std::size_t open = response.rfind(kOpen); open != std::string_view::npos;
       open = open == 0 ? std::string_view::npos : response.rfind(kOpen, open - 1)) {
    const std::size_t begin = open + kOpen.size();
    int depth = 1;
    for (std::size_t i = begin; i < response.size(); ++i) {
      if (response[i] == '{') ++depth;
      if (response[i] == '}' && --depth == 0) return response.substr(begin, i - begin);
    }
  }
  return std::nullopt;
}

std::optional<std::string> gold_text(const Json& answer) {
  if (answer.is_number()) return answer.dump();
  if (!answer.is_string()) return std::nullopt;
  const std::string_view text = trimmed(answer.get_ref<const std::string&>());
  if (text.empty()) return std::nullopt;
  return std::string(text);
}

const Json* find_given(const Problem& problem, const char* key) {
  for (const Json* place : {&problem.answer, &problem.extra}) {
    if (!place->is_object()) continue;
    if (const auto found = place->find(key); found != place->end()) return &*found;
  }
  return nullptr;
}

}  // namespace maxplus
