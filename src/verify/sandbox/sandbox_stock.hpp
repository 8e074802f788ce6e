#pragma once
// Sandboxes that wait for their next item: making one costs more than most judged programs.

#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "verify/sandbox/sandbox.hpp"

namespace maxplus {

class SandboxStock {
 public:
  SandboxStock(std::shared_ptr<const Broker> broker, SandboxPolicy policy);

  // One that holds this text, from the stock if it still answers. Any thread. Throws SandboxFailure, Error.
  std::unique_ptr<Sandbox> take(std::string_view text);
  // After use without a failure; one that failed is to be dropped.
  void give_back(std::unique_ptr<Sandbox> sandbox);
  const SandboxPolicy& policy() const { return policy_; }

 private:
  std::unique_ptr<Sandbox> take_idle();
  std::shared_ptr<const Broker> broker_;
  SandboxPolicy policy_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Sandbox>> idle_;
};

}  // namespace maxplus
