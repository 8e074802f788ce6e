#pragma once
// Ends the job when progress stops, and names the rank that stopped.
//
// Ranks of a node write heartbeats into shared memory. A thread of every rank looks at them, without MPI: after
// `limit_s` without any beat of its own rank it prints what each rank of the node did last and ends the process with
// exit code 75, which ends the job. A rank that waits for others has patience while one of them, on its node, still
// beats: where roles have ranks of their own, a stage of another role may take long.

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

#include "comm/communicator.hpp"

namespace maxplus {

class Watchdog {
 public:
  // Collective. limit_s <= 0: never ends anything. Heartbeats stand in a shared window over the ranks of a node.
  // `roles`: of this rank, for the report.
  Watchdog(const Communicator& world, double limit_s, std::string log_path, const std::string& roles);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  // `stage`: a string literal such as "generation". Cheap.
  void beat(const char* stage);
  // This rank now waits for the others ("exchange of experiences"); it cannot be the one that is silent.
  void wait(const char* stage);

 private:
  struct Beat {
    std::atomic<std::int64_t> time_ns;
    std::atomic<std::int32_t> process, rank, waiting;
    std::atomic<std::int32_t> ended;  // by its own watchdog, so it is not the one to blame
    std::atomic<char> stage[48];
    char roles[64];  // written before any other rank looks
  };
  bool others_work(std::int64_t now_ns) const;
  void write(const char* stage, int waiting);
  void watch();
  int silent_one() const;  // -1: unknown
  std::string report(double silent_s) const;

  double limit_s_;
  std::string log_path_, host_;
  int rank_;
  int node_ranks_ = 1, node_rank_ = 0;
  MPI_Comm node_ = MPI_COMM_NULL;
  MPI_Win window_ = MPI_WIN_NULL;
  Beat* beats_ = nullptr;
  std::mutex ending_;
  std::condition_variable wake_;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace maxplus
