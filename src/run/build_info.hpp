#pragma once
// What this program was built from and with: for --version, --build-info and the run's manifest.

#include <string>
#include <utility>
#include <vector>

namespace maxplus {

// "0.1.0 (3b0bf05c, changed)"
std::string version_text();
// version, commit, changed, date, build, compiler, flags, mpi, hdf5, kokkos, backend: in this order. What could not be
// found out is "unknown".
std::vector<std::pair<std::string, std::string>> build_info();
std::string build_info_text();  // one "name: value" a line

}  // namespace maxplus
