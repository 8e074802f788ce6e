#include "base/error.hpp"

#include <utility>

#include <fmt/format.h>

namespace maxplus {

namespace {

std::string join(const std::vector<Fault>& faults) {
  std::string text;
  for (const Fault& fault : faults) {
    if (!text.empty()) text += "; ";
    if (!fault.where.empty()) text += fault.where + ": ";
    text += fault.found;
  }
  return text;
}

}  // namespace

Error::Error(ExitCode code, std::vector<Fault> faults)
    : std::runtime_error(join(faults)), code_(code), faults_(std::move(faults)) {}

Error::Error(ExitCode code, Fault fault) : Error(code, std::vector<Fault>{std::move(fault)}) {}

Error::Error(ExitCode code, std::string found) : Error(code, Fault{"", std::move(found), "", ""}) {}

std::string format_faults(const std::vector<Fault>& faults) {
  std::string text;
  for (const Fault& fault : faults) {
    text += fmt::format("maxplus: error: {}{}{}\n", fault.where, fault.where.empty() ? "" : ": ", fault.found);
    if (!fault.expected.empty()) text += fmt::format("  expected: {}\n", fault.expected);
    if (!fault.advice.empty()) text += fmt::format("  try: {}\n", fault.advice);
  }
  return text;
}

void fail_invariant(const char* condition, const char* file, int line, const std::string& detail) {
  throw Error(ExitCode::software,
              Fault{fmt::format("{}:{}", file, line), fmt::format("broken invariant '{}': {}", condition, detail), "",
                    "report this: it is a bug in maxplus"});
}

}  // namespace maxplus
