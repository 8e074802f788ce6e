// PCRE2 behind an interface without its macros.
#define PCRE2_CODE_UNIT_WIDTH 8
#include "verify/pattern.hpp"

#include <stdexcept>

#include <fmt/format.h>
#include <pcre2.h>

#include "text/utf8.hpp"

namespace maxplus {

namespace {

constexpr std::uint32_t kMatchLimit = 2'000'000;  // internal steps: some tens of milliseconds
constexpr std::uint32_t kDepthLimit = 20'000;
constexpr std::uint32_t kHeapLimitKib = 20'000;
constexpr int kMaxMatches = 1000;  // all of them together stay within seconds

// An anchor must not find an end at a broken byte, so such bytes become characters first.
std::string repaired(std::string_view text) {
  std::string whole;
  for (auto bad = first_invalid_utf8(text); bad; bad = first_invalid_utf8(text)) {
    whole.append(text.substr(0, *bad)).append("\xef\xbf\xbd");
    text.remove_prefix(*bad + 1);
  }
  return whole.append(text);
}

struct FreeData {
  void operator()(pcre2_match_data* data) const { pcre2_match_data_free(data); }
};

}  // namespace

struct Pattern::Compiled {
  pcre2_code* code = nullptr;
  pcre2_match_context* context = nullptr;
  ~Compiled() {
    pcre2_match_context_free(context);
    pcre2_code_free(code);
  }
};

Pattern::Pattern(const std::string& pattern) : compiled_(std::make_unique<Compiled>()) {
  int error = 0;
  PCRE2_SIZE offset = 0;
  compiled_->code =
      pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(), PCRE2_UTF, &error, &offset, nullptr);
  if (compiled_->code == nullptr) {
    unsigned char message[160];
    pcre2_get_error_message(error, message, sizeof message);
    throw std::invalid_argument(fmt::format("{} at byte {}", reinterpret_cast<const char*>(message), offset));
  }
  compiled_->context = pcre2_match_context_create(nullptr);
  pcre2_set_match_limit(compiled_->context, kMatchLimit);
  pcre2_set_depth_limit(compiled_->context, kDepthLimit);
  pcre2_set_heap_limit(compiled_->context, kHeapLimitKib);
  pcre2_pattern_info(compiled_->code, PCRE2_INFO_CAPTURECOUNT, &groups_);
}

Pattern::~Pattern() = default;

Pattern::Match Pattern::last_match(std::string_view response) const {
  const std::string subject = repaired(response);
  const std::unique_ptr<pcre2_match_data, FreeData> data(
      pcre2_match_data_create_from_pattern(compiled_->code, nullptr));
  Match last;
  std::size_t start = 0;
  for (int count = 0; start <= subject.size(); ++count) {
    const int rc = pcre2_match(compiled_->code, reinterpret_cast<PCRE2_SPTR>(subject.data()), subject.size(), start, 0,
                               data.get(), compiled_->context);
    if (rc == PCRE2_ERROR_NOMATCH) return last;
    if (rc < 0 || count == kMaxMatches) return {Outcome::limit_hit, {}, {}};
    const PCRE2_SIZE* bounds = pcre2_get_ovector_pointer(data.get());
    last = {Outcome::found, subject.substr(bounds[0], bounds[1] > bounds[0] ? bounds[1] - bounds[0] : 0), {}};
    if (rc > 1 && bounds[2] != PCRE2_UNSET) last.group = subject.substr(bounds[2], bounds[3] - bounds[2]);
    start = bounds[1] > bounds[0] ? bounds[1] : bounds[1] + 1;
    while (start < subject.size() && (static_cast<unsigned char>(subject[start]) & 0xC0) == 0x80) ++start;
  }
  return last;
}

Pattern::Outcome Pattern::matches_whole(std::string_view response) const {
  const std::string subject = repaired(response);
  const std::unique_ptr<pcre2_match_data, FreeData> data(
      pcre2_match_data_create_from_pattern(compiled_->code, nullptr));
  const int rc = pcre2_match(compiled_->code, reinterpret_cast<PCRE2_SPTR>(subject.data()), subject.size(), 0,
                             PCRE2_ANCHORED | PCRE2_ENDANCHORED, data.get(), compiled_->context);
  if (rc == PCRE2_ERROR_NOMATCH) return Outcome::none;
  return rc < 0 ? Outcome::limit_hit : Outcome::found;
}

}  // namespace maxplus
