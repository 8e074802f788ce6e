#include "io/rank_group.hpp"

#include <algorithm>
#include <exception>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"

namespace maxplus {

namespace {

constexpr std::size_t kPiece = std::size_t{256} << 20;

void check(int code, const char* call) {
  if (code != MPI_SUCCESS) throw Error(ExitCode::software, fmt::format("{} failed while ranks agreed on a file", call));
}

// An Error as text that travels: code, then the four parts of the first fault.
std::string packed(const Error& error) {
  const Fault& fault = error.faults().front();
  std::string text = std::to_string(static_cast<int>(error.code()));
  for (const std::string& part : {fault.where, fault.found, fault.expected, fault.advice}) text += '\0' + part;
  return text;
}

Error unpacked(const std::string& text) {
  std::vector<std::string> part(1);
  for (const char c : text) {
    if (c == '\0')
      part.emplace_back();
    else
      part.back() += c;
  }
  part.resize(5);
  return Error(static_cast<ExitCode>(std::stoi(part[0])), Fault{part[1], part[2], part[3], part[4]});
}

}  // namespace

RankGroup::RankGroup(MPI_Comm ranks) : ranks_(ranks) {
  int initialized = 0;
  MPI_Initialized(&initialized);
  if (!initialized || ranks == MPI_COMM_SELF || ranks == MPI_COMM_NULL) return;
  check(MPI_Comm_rank(ranks, &rank_), "MPI_Comm_rank");
  check(MPI_Comm_size(ranks, &size_), "MPI_Comm_size");
}

void RankGroup::agree(const std::function<void()>& action) const {
  std::optional<std::string> failure;
  try {
    action();
  } catch (const Error& error) {
    if (size_ == 1) throw;
    failure = packed(error);
  } catch (const std::exception& error) {
    failure = packed(Error(ExitCode::software, error.what()));
    if (size_ == 1) throw unpacked(*failure);
  }
  if (size_ == 1) return;
  const int mine = failure ? rank_ : size_;
  int first = size_;
  check(MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, ranks_), "MPI_Allreduce");
  if (first == size_) return;
  std::string text = failure.value_or("");
  std::uint64_t length = text.size();
  broadcast(&length, sizeof length, first);
  text.resize(length);
  broadcast(text.data(), length, first);
  throw unpacked(text);
}

void RankGroup::agree_on_root(const std::function<void()>& action) const {
  agree([&] {
    if (rank_ == 0) action();
  });
}

void RankGroup::broadcast(void* data, std::size_t bytes, int root) const {
  if (size_ == 1) return;
  for (std::size_t at = 0; at < bytes; at += kPiece) {
    const int count = static_cast<int>(std::min(kPiece, bytes - at));
    check(MPI_Bcast(static_cast<char*>(data) + at, count, MPI_BYTE, root, ranks_), "MPI_Bcast");
  }
}

std::string RankGroup::broadcast(std::string text) const {
  std::uint64_t length = text.size();
  broadcast(&length, sizeof length, 0);
  text.resize(length);
  broadcast(text.data(), length, 0);
  return text;
}

void RankGroup::combine_bits(std::uint64_t* values, std::size_t count) const {
  if (size_ == 1) return;
  constexpr std::size_t kMost = kPiece / sizeof(std::uint64_t);
  for (std::size_t at = 0; at < count; at += kMost) {
    const int n = static_cast<int>(std::min(kMost, count - at));
    check(MPI_Allreduce(MPI_IN_PLACE, values + at, n, MPI_UINT64_T, MPI_BOR, ranks_), "MPI_Allreduce");
  }
}

std::int64_t RankGroup::sum(std::int64_t value) const {
  std::int64_t all = value;
  if (size_ > 1) check(MPI_Allreduce(&value, &all, 1, MPI_INT64_T, MPI_SUM, ranks_), "MPI_Allreduce");
  return all;
}

}  // namespace maxplus
