#pragma once
// The text of a Jinja template cut into what it writes and what it does, as transformers reads it (trim_blocks,
// lstrip_blocks): enough to compare templates, not to run them.

#include <string>
#include <string_view>
#include <vector>

namespace maxplus {

struct JinjaToken {
  enum class Kind {
    text,     // between tags, after the white space that tags strip is gone
    code,     // inside of a tag, without blanks; "{%", "{{" and their ends included, without '-'
    literal,  // a string inside of a tag, without quotes and escapes
  } kind;
  std::string value;
};

std::vector<JinjaToken> jinja_tokens(std::string_view text);

}  // namespace maxplus
