#pragma once
// The last collectives of a communicator, kept so that a watchdog thread can say where a silent rank stands.
//
// One thread writes, any thread reads; every field is atomic, so a reader may see the newest row half filled, never
// garbage.

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

namespace maxplus {

class CallRecord {
 public:
  static constexpr std::uint64_t kRows = 32;

  // `call` must be a literal.
  void begin(const char* call, std::int64_t bytes) {
    const std::uint64_t n = begun_.load(std::memory_order_relaxed);
    Row& row = rows_[n % kRows];
    row.call.store(call, std::memory_order_relaxed);
    row.bytes.store(bytes, std::memory_order_relaxed);
    row.number.store(n, std::memory_order_relaxed);
    begun_.store(n + 1, std::memory_order_release);
  }
  void end() { ended_.store(begun_.load(std::memory_order_relaxed), std::memory_order_release); }

  const char* last() const;
  std::uint64_t begun() const { return begun_.load(std::memory_order_acquire); }
  // "#41 sum 8 bytes done\n#42 barrier 0 bytes running\n", oldest first.
  std::string text() const;

 private:
  struct Row {
    std::atomic<const char*> call{nullptr};
    std::atomic<std::int64_t> bytes{0};
    std::atomic<std::uint64_t> number{0};
  };
  std::array<Row, kRows> rows_;
  std::atomic<std::uint64_t> begun_{0};
  std::atomic<std::uint64_t> ended_{0};
};

}  // namespace maxplus
