#include "region_times.hpp"

#include <Kokkos_Core.hpp>

namespace maxplus::performance {

RegionTimes* RegionTimes::active_ = nullptr;

RegionTimes::RegionTimes(Clock clock) : clock_(clock) {
  active_ = this;
  Kokkos::Tools::Experimental::set_push_region_callback(&RegionTimes::push);
  Kokkos::Tools::Experimental::set_pop_region_callback(&RegionTimes::pop);
}

RegionTimes::~RegionTimes() {
  Kokkos::Tools::Experimental::set_push_region_callback(nullptr);
  Kokkos::Tools::Experimental::set_pop_region_callback(nullptr);
  active_ = nullptr;
}

void RegionTimes::push(const char* name) {
  active_->part_ = active_->part_of(name);
  active_->start_ = now(active_->clock_);
}

void RegionTimes::pop() {
  active_->seconds_[static_cast<std::size_t>(active_->part_)] += now(active_->clock_) - active_->start_;
}

Part RegionTimes::part_of(std::string_view name) {
  if (name.starts_with("maxplus.")) name.remove_prefix(8);
  if (name.starts_with("pack_weight")) {
    place_ = Place::layers;
    return Part::packing;
  }
  if (name == "squared_norm_blocks") place_ = Place::optimizer;
  if (name == "gather_rows") place_ = Place::head;
  if (name.starts_with("swiglu") || name.starts_with("embedding")) place_ = Place::layers;
  if (place_ == Place::optimizer) return Part::optimizer;
  if (place_ == Place::head) return Part::head;
  if (name.starts_with("matmul")) return Part::products;
  if (name.starts_with("attention") || name.ends_with("_pages") || name == "rotary") return Part::attention;
  if (name == "fill" || name == "add" || name == "copy") return Part::gradients;
  return Part::norms;
}

}  // namespace maxplus::performance
