#pragma once
// Where the time of a model's pass goes: kernels open regions for Kokkos' profiling tools, and this is such a tool.
//
// A product's region has the same name in a layer and in the head, and so have small helpers wherever they are called;
// what they belong to follows from the order of the kernels: the head begins with gather_rows and ends where a layer or
// an embedding begins, the optimizer begins with the norm's blocks and ends where weights are packed.

#include <array>
#include <cstdint>
#include <string_view>

#include "probe.hpp"

namespace maxplus::performance {

enum class Part : std::uint8_t { products, attention, head, norms, packing, gradients, optimizer };
inline constexpr std::array<const char*, 7> kPartNames = {
    "products", "attention", "head and drawing", "norms, activation", "packing", "gradient zero, sum", "optimizer"};

// One at a time, between DeviceRuntime's begin and end. Costs two readings of the clock a kernel.
class RegionTimes {
 public:
  explicit RegionTimes(Clock clock);
  ~RegionTimes();
  RegionTimes(const RegionTimes&) = delete;
  RegionTimes& operator=(const RegionTimes&) = delete;

  const std::array<double, kPartNames.size()>& seconds() const { return seconds_; }

 private:
  enum class Place : std::uint8_t { layers, head, optimizer };
  static void push(const char* name);
  static void pop();
  Part part_of(std::string_view name);

  static RegionTimes* active_;
  Clock clock_;
  Place place_ = Place::layers;
  Part part_ = Part::products;
  double start_ = 0;
  std::array<double, kPartNames.size()> seconds_{};
};

}  // namespace maxplus::performance
