// Collecting the faults of a file.
#include "data/bad_lines.hpp"

#include <fmt/format.h>

#include "text/utf8.hpp"

namespace maxplus {

namespace {

constexpr std::size_t kListed = 20;

}  // namespace

OnBadLine on_bad_line_of(const std::string& name) {
  if (name == "stop") return OnBadLine::stop;
  if (name == "skip") return OnBadLine::skip;
  throw Error(ExitCode::config, Fault{"", fmt::format("[data] on_bad_line = {} is not known", in_quotes(name)),
                                      "\"stop\" or \"skip\"", "on_bad_line = \"stop\""});
}

void BadLines::add(const Fault& fault) {
  ++count_;
  if (listed_.size() < kListed) listed_.push_back(fault);
}

void BadLines::finish() const {
  if (policy_ == OnBadLine::skip || listed_.empty()) return;
  std::vector<Fault> faults = listed_;
  const std::int64_t more = count_ - static_cast<std::int64_t>(listed_.size());
  if (more > 0)
    faults.push_back(
        {"", fmt::format("and {} more bad lines", more), "", "on_bad_line = \"skip\" leaves bad lines out"});
  throw Error(ExitCode::data, std::move(faults));
}

std::string BadLines::summary() const {
  if (count_ == 0) return "";
  return fmt::format("skipped {} of {} lines; the first: {}: {}", count_, lines_, listed_[0].where, listed_[0].found);
}

}  // namespace maxplus
