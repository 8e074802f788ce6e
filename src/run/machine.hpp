#pragma once
// What this process sees of its machine: cores, memory, time; and whether a plan of memory fits.

#include <cstdint>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "comm/environment.hpp"
#include "device/stream.hpp"
#include "ops/matmul.hpp"
#include "roles/engine.hpp"

namespace maxplus {

int online_cores();                  // this process may run on
std::string core_list();             // the same by number: "0-3,6"
std::int64_t resident_bytes();       // now
std::int64_t resident_peak_bytes();  // highest since the start
double unix_time();

// Where each rank of a job runs.
struct RankPlace {
  std::string host, cores;  // cores as core_list()
};
std::vector<RankPlace> places_of_ranks(const Communicator& world);  // collective

// Threads may spin only where every thread of the node has a core.
Stream::Waiting waiting_for(const MpiEnvironment& mpi, int threads);

// What `compute` of a deck (f32 | bf16) stands for: on this processor, and on all of a job's (collective), which must
// not differ in it.
ops::Arithmetic arithmetic_here(const std::string& compute);
ops::Arithmetic common_arithmetic(const std::string& compute, const Communicator& world);

// Rows of logits held at once: at most about 192 MiB, 16 to 1024 rows. Each block passes once over the head and its
// gradient, and only the first one's logits need not be computed again for the gradient.
std::int64_t head_block_rows(std::int64_t vocabulary);

// Memory this rank may use: the least of the machine's available memory and the job's cgroup limit, divided by the
// ranks of the node, and the process limit.
std::int64_t available_memory_bytes(int ranks_on_node);

// Collective: Error(os) with the plan on all ranks when it does not fit one of them.
void require_memory(const MemoryPlan& plan, int ranks_on_node, const Communicator& world);

}  // namespace maxplus
