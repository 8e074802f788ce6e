#pragma once
// The device's run-time library, started once by main and stopped last.

#include <string>

namespace maxplus {

// Starts the backend's library (Kokkos, or CUDA) and sets flush-to-zero in the calling thread.
class DeviceRuntime {
 public:
  DeviceRuntime();
  ~DeviceRuntime();
  DeviceRuntime(const DeviceRuntime&) = delete;
  DeviceRuntime& operator=(const DeviceRuntime&) = delete;
};

// "kokkos 3.4.1 (Serial)"
std::string backend_description();
// "avx2", "avx512" or "plain": which bodies run. MAXPLUS_SIMD in the environment may ask for a lesser one (tests).
std::string instruction_set();
// Of the environment's processor: "AMD EPYC 7B13", for manifests and reports.
std::string processor_name();

}  // namespace maxplus
