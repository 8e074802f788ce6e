// The table of families. A new one is its source file and one line here.
#include "model/families/family.hpp"

#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"

namespace maxplus {

namespace {

const std::array<const Family*, 5> kFamilies{
    &kLlamaFamily, &kQwen2Family, &kQwen3Family, &kMistralFamily, &kGemma2Family,
};

}  // namespace

const Family& find_family(std::string_view name, const std::string& where) {
  for (const Family* family : kFamilies) {
    if (family->name == name) return *family;
  }
  throw Error(ExitCode::data, Fault{where, fmt::format("model family '{}' is not supported", name),
                                    fmt::format("model_type one of: {}", fmt::join(family_names(), ", ")),
                                    "use a model of a supported family"});
}

std::vector<std::string> family_names() {
  std::vector<std::string> names;
  for (const Family* family : kFamilies) names.emplace_back(family->name);
  return names;
}

}  // namespace maxplus
