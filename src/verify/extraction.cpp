// Searching a response from its end.
#include "verify/extraction.hpp"

#include <algorithm>
#include <vector>

#include "text/utf8.hpp"
#include "verify/characters.hpp"

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
  struct Open {
    std::size_t inside;
    bool box;
  };
  std::vector<Open> open;
  std::optional<std::string_view> last;
  const char* last_begin = nullptr;
  const auto take = [&](std::size_t begin, std::size_t end) {
    if (last_begin != nullptr && response.data() + begin < last_begin) return;  // around the one there is
    last = response.substr(begin, end - begin);
    last_begin = response.data() + begin;
  };
  for (std::size_t i = 0; i < response.size(); ++i) {
    if (response[i] == '\\') {
      const std::string_view rest = response.substr(i);
      if (rest.starts_with("\\boxed") || rest.starts_with("\\fbox")) {
        std::size_t inside = i + (rest[1] == 'b' ? 6 : 5);
        while (inside < response.size() && response[inside] == ' ') ++inside;
        if (inside < response.size() && response[inside] == '{') {
          open.push_back({inside + 1, true});
          i = inside;
        } else {
          std::size_t end = inside;
          while (end < response.size() && is_digit(response[end])) ++end;
          if (end > inside && rest[6] == ' ') take(inside, end);
          i = std::max(i, end - 1);
        }
      } else if (!rest.starts_with("\\\\boxed") && !rest.starts_with("\\\\fbox")) {
        ++i;  // an escaped brace is none
      }
    } else if (response[i] == '{') {
      open.push_back({i + 1, false});
    } else if (response[i] == '}' && !open.empty()) {
      if (open.back().box) take(open.back().inside, i);
      open.pop_back();
    }
  }
  return last;
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
