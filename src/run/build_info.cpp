// What this program was built from and with; the values come from a header that each build makes.
#include "run/build_info.hpp"

#include "run/generated_build_info.hpp"

namespace maxplus {

std::string version_text() {
  const std::string changed = std::string(build::kChanged) == "yes" ? ", changed" : "";
  return std::string(build::kVersion) + " (" + build::kCommit + changed + ")";
}

std::vector<std::pair<std::string, std::string>> build_info() {
  return {{"version", build::kVersion}, {"commit", build::kCommit},  {"changed", build::kChanged},
          {"date", build::kDate},       {"build", build::kType},     {"compiler", build::kCompiler},
          {"flags", build::kFlags},     {"mpi", build::kMpi},        {"hdf5", build::kHdf5},
          {"kokkos", build::kKokkos},   {"backend", build::kBackend}};
}

std::string build_info_text() {
  std::string text;
  for (const auto& [name, value] : build_info()) text += name + ": " + value + "\n";
  return text;
}

}  // namespace maxplus
