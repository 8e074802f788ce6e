// Start and stop of Kokkos, its tools' regions, and what this backend and processor are called.

#include "device/runtime.hpp"

#include <fstream>
#include <string>

#include <fmt/format.h>
#include <Kokkos_Core.hpp>

#include "kokkos/kernel_table.hpp"
#include "kokkos/region.hpp"
#include "kokkos/team.hpp"

namespace maxplus {

namespace {

// Kokkos' own threads are not used (team.hpp), so none are started.
void start_kokkos() {
#if KOKKOS_VERSION >= 30700
  Kokkos::initialize(Kokkos::InitializationSettings().set_num_threads(1).set_disable_warnings(true));
#else
  Kokkos::InitArguments arguments;
  arguments.num_threads = 1;
  arguments.disable_warnings = true;
  Kokkos::initialize(arguments);
#endif
}

}  // namespace

DeviceRuntime::DeviceRuntime() {
  host::instruction_set_in_use();  // an impossible MAXPLUS_SIMD is reported here
  start_kokkos();
  host::set_flush_to_zero();
}

DeviceRuntime::~DeviceRuntime() { Kokkos::finalize(); }

std::string backend_description() {
  return fmt::format("kokkos {}.{}.{} ({})", KOKKOS_VERSION / 10000, KOKKOS_VERSION / 100 % 100, KOKKOS_VERSION % 100,
                     Kokkos::DefaultHostExecutionSpace::name());
}

std::string instruction_set() { return std::string(host::name_of(host::instruction_set_in_use())); }

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (colon != std::string::npos && line.starts_with("model name")) return line.substr(colon + 2);
  }
  return "unknown processor";
}

namespace host {

Region::Region(const char* name) : open_(Kokkos::Profiling::profileLibraryLoaded()) {
  if (open_) Kokkos::Profiling::pushRegion(name);
}

Region::~Region() {
  if (open_) Kokkos::Profiling::popRegion();
}

}  // namespace host

}  // namespace maxplus
