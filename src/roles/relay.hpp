#pragma once
// Hands what some ranks hold to those that lack it: each byte once to each of them, the holders sharing the work.

#include <cstddef>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "parallel/role_map.hpp"

namespace maxplus {

class Relay {
 public:
  // Collective over `world`; `holds` says for each of its ranks whether it holds what is handed on, `wants` whether it
  // needs it.
  Relay(std::string name, const Communicator& world, const std::vector<bool>& holds, const std::vector<bool>& wants);

  bool is_needed() const { return needed_; }  // whether any rank lacks it; if none, nothing below does anything
  bool gives() const { return gives_; }
  bool takes() const { return takes_; }

  // Collective over the ranks that hold or want it: `bytes` bytes at `data`, the same number on each.
  void pass(void* data, std::size_t bytes) const;
  // The same in the background (Communicator::begin_broadcast).
  Pending begin_pass(void* data, std::size_t bytes) const;
  // The same of a length that takers do not know.
  void pass(std::vector<std::byte>* bytes) const;
  void pass(std::string* text) const;

  const Traffic& traffic() const { return group_.traffic(); }

 private:
  Relay(std::string name, const Communicator& world, const std::vector<bool>& holds, const RelayPlan& plan);

  Communicator group_;  // one giver and its takers
  int giver_ = 0;       // its place in the group
  bool needed_ = false, gives_ = false, takes_ = false;
};

}  // namespace maxplus
