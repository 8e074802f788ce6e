#include "verify/code/code_block.hpp"

#include <algorithm>

#include "text/utf8.hpp"

namespace maxplus {

namespace {

constexpr std::size_t kFence = 3;

struct Fence {
  char mark = 0;  // ` or ~; 0: the line is no fence
  std::size_t length = 0;
  std::string_view rest;
};

Fence fence_of(std::string_view line) {
  const std::size_t begin = std::min(line.find_first_not_of(" \t"), line.size());
  line.remove_prefix(begin);
  Fence fence;
  if (line.empty() || (line[0] != '`' && line[0] != '~')) return fence;
  const std::size_t length = std::min(line.find_first_not_of(line[0]), line.size());
  if (length < kFence) return fence;
  fence = {line[0], length, trimmed(line.substr(length))};
  if (fence.rest.find('`') != std::string_view::npos) fence.mark = 0;  // code inside a line
  return fence;
}

std::string lower_case_word(std::string_view text) {
  std::string word(text.substr(0, text.find_first_of(" \t{,:")));
  for (char& c : word) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return word;
}

}  // namespace

std::optional<std::string> last_code_block(std::string_view response, const std::vector<std::string>& languages) {
  std::optional<std::string> named, plain;
  Fence open;
  std::size_t begin = 0;
  std::string language;
  for (std::size_t at = 0; at < response.size();) {
    const std::size_t end = std::min(response.find('\n', at), response.size());
    const Fence fence = fence_of(response.substr(at, end - at));
    if (fence.mark != 0 && open.mark == 0) {
      open = fence;
      begin = std::min(end + 1, response.size());
      language = lower_case_word(fence.rest);
    } else if (open.mark != 0 && fence.mark == open.mark && fence.length >= open.length && fence.rest.empty()) {
      const std::string inside(response.substr(begin, at - begin));
      if (std::find(languages.begin(), languages.end(), language) != languages.end()) {
        named = inside;
      } else if (language.empty()) {
        plain = inside;
      }
      open.mark = 0;
    }
    at = end + 1;
  }
  return named ? named : plain;
}

}  // namespace maxplus
