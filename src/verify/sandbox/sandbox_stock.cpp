#include "verify/sandbox/sandbox_stock.hpp"

#include <utility>

namespace maxplus {

SandboxStock::SandboxStock(std::shared_ptr<const Broker> broker, SandboxPolicy policy)
    : broker_(std::move(broker)), policy_(std::move(policy)) {}

std::unique_ptr<Sandbox> SandboxStock::take_idle() {
  const std::lock_guard lock(mutex_);
  if (idle_.empty()) return nullptr;
  std::unique_ptr<Sandbox> sandbox = std::move(idle_.back());
  idle_.pop_back();
  return sandbox;
}

std::unique_ptr<Sandbox> SandboxStock::take(std::string_view text) {
  while (std::unique_ptr<Sandbox> sandbox = take_idle()) {
    try {
      sandbox->take_text(text);
      return sandbox;
    } catch (const SandboxFailure&) {  // it died while it waited, as by the broker's death: another one does
    }
  }
  return std::make_unique<Sandbox>(*broker_, policy_, text);
}

void SandboxStock::give_back(std::unique_ptr<Sandbox> sandbox) {
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(sandbox));
}

}  // namespace maxplus
