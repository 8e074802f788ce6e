#pragma once
// Where kernels run: an ordered queue on one device. On the host backend it owns a fixed team of threads and every
// kernel has finished when its call returns.

#include <memory>

namespace maxplus {

class Stream {
 public:
  struct Impl;  // the backend's

  // `threads` is the team, the calling thread included. `may_spin`: threads wait for work by spinning a little; wrong
  // where more threads than cores exist on the node.
  enum class Waiting { spin_briefly, sleep };
  Stream(int threads, Waiting waiting);
  ~Stream();
  Stream(Stream&&) noexcept;
  Stream& operator=(Stream&&) noexcept;

  int threads() const;
  void synchronize() const;
  Impl& impl() const { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace maxplus
