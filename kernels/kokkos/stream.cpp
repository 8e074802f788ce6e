// Stream on the host: a team of threads; every kernel has finished when its call returns.

#include "device/stream.hpp"

#include "kokkos/team.hpp"

namespace maxplus {

Stream::Stream(int threads, Waiting waiting) : impl_(std::make_unique<Impl>(threads, waiting)) {}
Stream::~Stream() = default;
Stream::Stream(Stream&&) noexcept = default;
Stream& Stream::operator=(Stream&&) noexcept = default;

int Stream::threads() const { return impl_->team.threads(); }
void Stream::synchronize() const {}

}  // namespace maxplus
