#include "run/machine.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>
#include <algorithm>
#include <chrono>
#include <fstream>
#include <limits>
#include <span>
#include <string>
#include <thread>

#include <fmt/format.h>

#include "base/error.hpp"
#include "parallel/role_map.hpp"

namespace maxplus {

namespace {

constexpr std::int64_t kHeadBlockElements = 48 << 20;
constexpr double kMiB = 1024.0 * 1024.0;

std::int64_t read_number(const char* path, std::int64_t otherwise) {
  std::ifstream file(path);
  std::int64_t value = 0;
  return file >> value ? value : otherwise;
}

}  // namespace

int online_cores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

std::string core_list() {
  cpu_set_t set;
  std::vector<int> cores;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return "";
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  }
  return rank_list(cores);
}

std::int64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::int64_t pages = 0, resident = 0;
  file >> pages >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

std::int64_t resident_peak_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::int64_t>(usage.ru_maxrss) * 1024;
}

double unix_time() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::vector<RankPlace> places_of_ranks(const Communicator& world) {
  const std::string mine = MpiEnvironment::host_name() + "\n" + core_list();
  std::vector<RankPlace> places;
  for (const auto& bytes : world.gather_all(std::as_bytes(std::span<const char>(mine.data(), mine.size())))) {
    const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const std::size_t end = text.find('\n');
    places.push_back({text.substr(0, end), text.substr(end + 1)});
  }
  return places;
}

Stream::Waiting waiting_for(const MpiEnvironment& mpi, int threads) {
  const auto cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  return mpi.ranks_on_node() * threads > cores ? Stream::Waiting::sleep : Stream::Waiting::spin_briefly;
}

ops::Arithmetic arithmetic_here(const std::string& compute) {
  return compute == "bf16" ? ops::native_bf16() : ops::Arithmetic::f32;
}

ops::Arithmetic common_arithmetic(const std::string& compute, const Communicator& world) {
  // bf16_dot stands before bf16_tiles, and every processor can compute it.
  return static_cast<ops::Arithmetic>(world.minimum(static_cast<std::int64_t>(arithmetic_here(compute))));
}

std::int64_t head_block_rows(std::int64_t vocabulary) {
  return std::clamp<std::int64_t>(kHeadBlockElements / std::max<std::int64_t>(1, vocabulary), 16, 1024);
}

std::int64_t available_memory_bytes(int ranks_on_node) {
  std::int64_t available = std::numeric_limits<std::int64_t>::max();
  std::ifstream meminfo("/proc/meminfo");
  for (std::string key; meminfo >> key;) {
    std::int64_t kib = 0;
    if (key == "MemAvailable:" && meminfo >> kib) available = kib * 1024;
    std::string rest;
    std::getline(meminfo, rest);
  }
  const std::int64_t group_limit = read_number("/sys/fs/cgroup/memory.max", available);
  const std::int64_t group_used = read_number("/sys/fs/cgroup/memory.current", 0);
  available = std::min(available, std::max<std::int64_t>(0, group_limit - group_used));
  std::int64_t share = available / std::max(1, ranks_on_node);
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    share = std::min(share, static_cast<std::int64_t>(limit.rlim_cur));
  }
  return share;
}

void require_memory(const MemoryPlan& plan, int ranks_on_node, const Communicator& world) {
  const std::int64_t available = available_memory_bytes(ranks_on_node);
  const std::int64_t lacking_here = plan.total() - available;
  const std::int64_t lacking = world.maximum(lacking_here);
  if (lacking <= 0) return;
  std::string parts;
  for (const MemoryPlan::Line& line : plan.lines)
    parts += fmt::format("{}{} {:.1f}", parts.empty() ? "" : ", ", line.name, static_cast<double>(line.bytes) / kMiB);
  Fault fault{"",
              fmt::format("the plan needs {:.1f} MiB a rank, {:.1f} MiB more than there are",
                          static_cast<double>(plan.total()) / kMiB, static_cast<double>(lacking) / kMiB),
              fmt::format("at most {:.1f} MiB a rank (of which: {} MiB)",
                          static_cast<double>(plan.total() - lacking) / kMiB, parts),
              "fewer ranks a node, smaller micro_batch_tokens or batch_rollouts, or a smaller model"};
  // Ranks of different roles have different plans: all tell that of the rank that lacks most.
  const auto worst =
      static_cast<int>(world.minimum(lacking_here == lacking ? std::int64_t{world.rank()} : world.size()));
  for (std::string* text : {&fault.found, &fault.expected}) {
    std::uint64_t length = text->size();
    world.broadcast(&length, sizeof length, worst);
    text->resize(length);
    world.broadcast(text->data(), length, worst);
  }
  throw Error(ExitCode::os, std::move(fault));
}

}  // namespace maxplus
