#include "text/jinja_normal_form.hpp"

namespace maxplus {

namespace {

constexpr std::string_view kJinjaBlanks = " \t\n\r\f\v";

bool is_blank(char c) { return kJinjaBlanks.find(c) != std::string_view::npos; }

class JinjaScanner {
 public:
  explicit JinjaScanner(std::string_view text) : text_(text) {
    // Jinja drops one line feed at the end of a template.
    if (!text_.empty() && text_.back() == '\n') text_.remove_suffix(1);
  }

  std::vector<JinjaToken> scan() {
    while (at_ < text_.size()) {
      const std::size_t open = find_tag();
      std::string written(text_.substr(at_, open - at_));
      strip_begin(written);
      if (open == text_.size()) {
        add(JinjaToken::Kind::text, std::move(written));
        break;
      }
      const char kind = text_[open + 1];
      const char mark = open + 2 < text_.size() ? text_[open + 2] : ' ';
      strip_end(written, kind, mark);
      add(JinjaToken::Kind::text, std::move(written));
      at_ = open + 2 + (mark == '-' || mark == '+' ? 1 : 0);
      if (kind == '#') {
        skip_comment();
      } else {
        scan_tag(kind);
      }
    }
    return std::move(tokens_);
  }

 private:
  std::size_t find_tag() const {
    for (std::size_t i = at_; i + 1 < text_.size(); ++i) {
      if (text_[i] == '{' && (text_[i + 1] == '%' || text_[i + 1] == '{' || text_[i + 1] == '#')) return i;
    }
    return text_.size();
  }

  // What the tag before takes of the text behind it.
  void strip_begin(std::string& written) const {
    if (strip_all_) {
      written.erase(0, std::min(written.find_first_not_of(kJinjaBlanks), written.size()));
    } else if (strip_line_feed_ && !written.empty() && written.front() == '\n') {
      written.erase(0, 1);  // trim_blocks
    }
  }
  // What the tag takes of the text before it.
  void strip_end(std::string& written, char kind, char mark) const {
    if (mark == '-') {
      written.erase(written.find_last_not_of(kJinjaBlanks) + 1);
    } else if (kind != '{' && mark != '+') {  // lstrip_blocks
      const std::size_t last = written.find_last_not_of(" \t");
      const bool line_begins = last == std::string::npos ? (at_ == 0 || line_begins_) : written[last] == '\n';
      if (line_begins) written.erase(last + 1);
    }
  }

  void end_tag(char kind, std::size_t end) {
    strip_all_ = end > 0 && text_[end - 1] == '-';
    strip_line_feed_ = kind != '{';
    at_ = end + 2;
    line_begins_ = strip_line_feed_ && at_ < text_.size() && text_[at_] == '\n';
  }

  void skip_comment() {
    const std::size_t end = text_.find("#}", at_);
    if (end == std::string_view::npos) {
      at_ = text_.size();
    } else {
      end_tag('#', end);
    }
  }

  void scan_tag(char kind) {
    std::string code = kind == '%' ? "{%" : "{{";
    const std::string_view close = kind == '%' ? "%}" : "}}";
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\'' || c == '"') {
        add(JinjaToken::Kind::code, std::move(code));
        code.clear();
        scan_literal(c);
        continue;
      }
      const std::size_t end = c == '-' ? at_ + 1 : at_;
      if (text_.substr(end, 2) == close) {
        code += close;
        add(JinjaToken::Kind::code, std::move(code));
        end_tag(kind, end);
        return;
      }
      if (!is_blank(c)) code += c;
      ++at_;
    }
    add(JinjaToken::Kind::code, std::move(code));
  }

  void scan_literal(char quote) {
    std::string value;
    for (++at_; at_ < text_.size() && text_[at_] != quote; ++at_) {
      if (text_[at_] != '\\' || at_ + 1 == text_.size()) {
        value += text_[at_];
        continue;
      }
      const char c = text_[++at_];
      if (c == 'n') {
        value += '\n';
      } else if (c == 't') {
        value += '\t';
      } else if (c == '\\' || c == '\'' || c == '"') {
        value += c;
      } else {
        value += '\\';
        value += c;
      }
    }
    ++at_;
    tokens_.push_back({JinjaToken::Kind::literal, std::move(value)});
  }

  void add(JinjaToken::Kind kind, std::string value) {
    if (value.empty()) return;
    if (!tokens_.empty() && tokens_.back().kind == kind && kind != JinjaToken::Kind::literal) {
      tokens_.back().value += value;
    } else {
      tokens_.push_back({kind, std::move(value)});
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool strip_all_ = false, strip_line_feed_ = false, line_begins_ = false;
  std::vector<JinjaToken> tokens_;
};

}  // namespace

std::vector<JinjaToken> jinja_tokens(std::string_view text) { return JinjaScanner(text).scan(); }

}  // namespace maxplus
