#pragma once
// A named region for Kokkos' profiling tools around a kernel; costs one comparison when no tool is loaded.

namespace maxplus::host {

class Region {
 public:
  explicit Region(const char* name);
  ~Region();
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;

 private:
  bool open_;
};

}  // namespace maxplus::host
