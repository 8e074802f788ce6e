#include "comm/communicator.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <exception>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "comm/call_record.hpp"
#include "comm/checked_count.hpp"
#include "comm/signature.hpp"

namespace maxplus {

namespace {

constexpr std::size_t kLargestPiece = std::size_t{512}
                                      << 20;     // MPI libraries have faults near 2^31; we stay well below
constexpr int kTagRing = 11, kTagExchange = 12;  // the table of tags of this layer; all < 32768

std::size_t total(std::span<const std::size_t> bytes) {
  std::size_t sum = 0;
  for (std::size_t b : bytes) sum += b;
  return sum;
}

}  // namespace

struct Communicator::Impl {
  std::string name;
  MPI_Comm comm = MPI_COMM_SELF;
  MPI_Comm shadow = MPI_COMM_NULL;  // of the check mode
  bool owned = false;
  int rank = 0;
  int size = 1;
  std::size_t piece = kLargestPiece;
  Checking checking = Checking::off;
  std::thread::id owner = std::this_thread::get_id();
  CallRecord record;
  Traffic traffic;

  ~Impl() {
    if (!owned) return;
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (finalized || std::uncaught_exceptions() > 0) return;  // by an exception: the others may be elsewhere
    if (shadow != MPI_COMM_NULL) MPI_Comm_free(&shadow);
    MPI_Comm_free(&comm);
  }

  void check(int code, const char* call) const { check_mpi(code, call, name.c_str()); }
  void adopt(MPI_Comm fresh);
  void compare_signatures(const Signature& mine) const;
  void compare_exchange(std::span<const std::size_t> send, std::span<const std::size_t> receive) const;
  template <class Piece>  // Piece(data, count)
  void in_pieces(char* data, std::size_t bytes, Piece pass) const;
  void broadcast_pieces(char* data, std::size_t bytes, int root) const;
  void send_receive(const char* send, std::size_t send_bytes, int to, char* receive, std::size_t receive_bytes,
                    int from, int tag) const;
  void ring(char* data, std::span<const std::size_t> bytes_of_rank) const;
  template <class T, class Fold>
  void fold_on_root(std::span<T> values, Fold fold) const;
};

namespace {

enum class Comparing { off, on };  // of what ranks begin at different times, nothing is compared

// One collective from its first check to its last byte: owner, record, signature, traffic.
class Scope {
 public:
  template <class Impl>
  Scope(Impl& impl, const Signature& signature, std::size_t sent, Comparing comparing = Comparing::on)
      : traffic_(impl.traffic), record_(impl.record) {
    MAXPLUS_REQUIRE(std::this_thread::get_id() == impl.owner,
                    fmt::format("{} on the communicator '{}' by a thread that does not own it",
                                maxplus::name_of(signature.call), impl.name));
    record_.begin(maxplus::name_of(signature.call), signature.bytes);
    if (impl.size > 1) {
      if (comparing == Comparing::on) impl.compare_signatures(signature);
      start_ = MPI_Wtime();
      traffic_.bytes_sent += static_cast<std::int64_t>(sent);
    }
    ++traffic_.calls;
    alone_ = impl.size == 1;
  }
  ~Scope() {
    if (!alone_) traffic_.seconds += MPI_Wtime() - start_;
    record_.end();
  }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  Traffic& traffic_;
  CallRecord& record_;
  double start_ = 0;
  bool alone_ = true;
};

}  // namespace

void Communicator::Impl::adopt(MPI_Comm fresh) {
  comm = fresh;
  owned = true;
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_set_name(comm, name.substr(0, MPI_MAX_OBJECT_NAME - 1).c_str());
  check(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  check(MPI_Comm_size(comm, &size), "MPI_Comm_size");
  if (checking == Checking::on && size > 1) {
    check(MPI_Comm_dup(comm, &shadow), "MPI_Comm_dup");
    MPI_Comm_set_errhandler(shadow, MPI_ERRORS_RETURN);
  }
}

void Communicator::Impl::compare_signatures(const Signature& mine) const {
  if (shadow == MPI_COMM_NULL) return;
  const std::int64_t row[4] = {static_cast<std::int64_t>(mine.call), mine.bytes, static_cast<std::int64_t>(mine.type),
                               mine.detail};
  std::vector<std::int64_t> all(static_cast<std::size_t>(size) * 4);
  check(MPI_Allgather(row, 4, MPI_INT64_T, all.data(), 4, MPI_INT64_T, shadow), "MPI_Allgather (check mode)");
  bool equal = true;
  for (std::size_t i = 4; i < all.size(); ++i) equal = equal && all[i] == all[i % 4];
  if (equal) return;
  std::string found = fmt::format("the ranks of '{}' entered different collectives:", name);
  for (int r = 0; r < std::min(size, 16); ++r) {
    const std::int64_t* other = &all[static_cast<std::size_t>(r) * 4];
    found += fmt::format(" rank {}: {} of {} bytes ({}, root {});", r, name_of(static_cast<Signature::Call>(other[0])),
                         other[1], name_of(static_cast<Signature::Type>(other[2])), other[3]);
  }
  throw Error(ExitCode::software, Fault{"", found, "the same call, size, type and root on every rank",
                                        "report this as a bug, with the deck and the number of ranks"});
}

void Communicator::Impl::compare_exchange(std::span<const std::size_t> send,
                                          std::span<const std::size_t> receive) const {
  if (shadow == MPI_COMM_NULL) return;
  std::vector<std::uint64_t> mine(send.begin(), send.end()), theirs(static_cast<std::size_t>(size));
  check(MPI_Alltoall(mine.data(), 1, MPI_UINT64_T, theirs.data(), 1, MPI_UINT64_T, shadow),
        "MPI_Alltoall (check mode)");
  int wrong = -1;
  for (int r = size - 1; r >= 0; --r) {
    if (theirs[static_cast<std::size_t>(r)] != receive[static_cast<std::size_t>(r)]) wrong = r;
  }
  int any = wrong;
  check(MPI_Allreduce(&wrong, &any, 1, MPI_INT, MPI_MAX, shadow), "MPI_Allreduce (check mode)");
  if (any < 0) return;
  std::string found = fmt::format("exchange on '{}': some rank expects another size than is sent", name);
  if (wrong >= 0) {
    found = fmt::format("exchange on '{}': rank {} expects {} bytes from rank {}, which sends {}", name, rank,
                        receive[static_cast<std::size_t>(wrong)], wrong, theirs[static_cast<std::size_t>(wrong)]);
  }
  throw Error(ExitCode::software, Fault{"", found, "equal sizes on both sides", "report this as a bug"});
}

template <class Piece>
void Communicator::Impl::in_pieces(char* data, std::size_t bytes, Piece pass) const {
  for (std::size_t at = 0; at < bytes; at += piece) pass(data + at, checked_count(std::min(piece, bytes - at)));
}

void Communicator::Impl::broadcast_pieces(char* data, std::size_t bytes, int root) const {
  in_pieces(data, bytes, [&](char* at, int count) { check(MPI_Bcast(at, count, MPI_BYTE, root, comm), "MPI_Bcast"); });
}

// Both directions in step, piece by piece; the side that is finished first meets MPI_PROC_NULL. Every rank walks the
// steps in the same order, so the least step that is not complete can always proceed.
void Communicator::Impl::send_receive(const char* send, std::size_t send_bytes, int to, char* receive,
                                      std::size_t receive_bytes, int from, int tag) const {
  const std::size_t longest = std::max(send_bytes, receive_bytes);
  for (std::size_t at = 0; at < longest; at += piece) {
    const std::size_t out = at < send_bytes ? std::min(piece, send_bytes - at) : 0;
    const std::size_t in = at < receive_bytes ? std::min(piece, receive_bytes - at) : 0;
    check(MPI_Sendrecv(out > 0 ? send + at : nullptr, checked_count(out), MPI_BYTE, out > 0 ? to : MPI_PROC_NULL, tag,
                       in > 0 ? receive + at : nullptr, checked_count(in), MPI_BYTE, in > 0 ? from : MPI_PROC_NULL, tag,
                       comm, MPI_STATUS_IGNORE),
          "MPI_Sendrecv");
  }
}

// Each part travels once around the ring.
void Communicator::Impl::ring(char* data, std::span<const std::size_t> bytes_of_rank) const {
  std::vector<std::size_t> offset(bytes_of_rank.size() + 1, 0);
  for (std::size_t r = 0; r < bytes_of_rank.size(); ++r) offset[r + 1] = offset[r] + bytes_of_rank[r];
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  for (int s = 0; s + 1 < size; ++s) {
    const auto out = static_cast<std::size_t>((rank + size - s) % size);
    const auto in = static_cast<std::size_t>((rank + size - s - 1) % size);
    send_receive(data + offset[out], bytes_of_rank[out], to, data + offset[in], bytes_of_rank[in], from, kTagRing);
  }
}

template <class T, class Fold>
void Communicator::Impl::fold_on_root(std::span<T> values, Fold fold) const {
  const std::size_t ranks = static_cast<std::size_t>(size);
  const std::size_t most = std::max<std::size_t>(1, std::min(piece, std::size_t{1} << 20) / sizeof(T) / ranks);
  std::vector<T> all(rank == 0 ? std::min(most, values.size()) * ranks : 0);
  for (std::size_t at = 0; at < values.size(); at += most) {
    const std::size_t n = std::min(most, values.size() - at);
    const int bytes = checked_count(n * sizeof(T));
    check(MPI_Gather(values.data() + at, bytes, MPI_BYTE, all.data(), bytes, MPI_BYTE, 0, comm), "MPI_Gather");
    if (rank == 0) {
      for (std::size_t r = 1; r < ranks; ++r) {
        for (std::size_t i = 0; i < n; ++i) values[at + i] = fold(values[at + i], all[r * n + i]);
      }
    }
  }
  broadcast_pieces(reinterpret_cast<char*>(values.data()), values.size_bytes(), 0);
}

Communicator::Communicator(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Communicator Communicator::self(std::string name) {
  auto impl = std::make_unique<Impl>();
  impl->name = std::move(name);
  return Communicator(std::move(impl));
}

Communicator::Communicator(std::string name, MPI_Comm parent, Checking checking) : impl_(std::make_unique<Impl>()) {
  impl_->name = std::move(name);
  impl_->checking = checking;
  MPI_Comm fresh = MPI_COMM_NULL;
  impl_->check(MPI_Comm_dup(parent, &fresh), "MPI_Comm_dup");
  impl_->adopt(fresh);
  require_equal("name of a communicator", impl_->name);
}

Communicator::~Communicator() = default;
Communicator::Communicator(Communicator&&) noexcept = default;
Communicator& Communicator::operator=(Communicator&&) noexcept = default;

int Communicator::rank() const { return impl_->rank; }
int Communicator::size() const { return impl_->size; }
const std::string& Communicator::name() const { return impl_->name; }
MPI_Comm Communicator::handle() const { return impl_->comm; }
const Traffic& Communicator::traffic() const { return impl_->traffic; }
const char* Communicator::last_call() const { return impl_->record.last(); }
std::string Communicator::recent_calls() const { return impl_->record.text(); }

void Communicator::limit_pieces(std::size_t bytes) {
  MAXPLUS_REQUIRE(bytes >= 1 && bytes <= kLargestPiece, fmt::format("pieces of {} bytes", bytes));
  impl_->piece = bytes;
}

Communicator Communicator::split(std::string name, int colour) const {
  MAXPLUS_REQUIRE(colour >= 0, fmt::format("colour {}", colour));
  auto part = std::make_unique<Impl>();
  part->name = std::move(name);
  part->checking = impl_->checking;
  part->piece = impl_->piece;
  const Scope scope(*impl_, {Signature::Call::split, 0, Signature::Type::none, 0}, 0);
  if (!impl_->owned) return Communicator(std::move(part));  // self(): nothing to cut
  MPI_Comm fresh = MPI_COMM_NULL;
  impl_->check(MPI_Comm_split(impl_->comm, colour, impl_->rank, &fresh), "MPI_Comm_split");
  part->adopt(fresh);
  Communicator result(std::move(part));
  result.require_equal("name of a communicator", result.name());
  return result;
}

void Communicator::barrier() const {
  const Scope scope(*impl_, {Signature::Call::barrier, 0, Signature::Type::none, 0}, 0);
  if (size() > 1) impl_->check(MPI_Barrier(impl_->comm), "MPI_Barrier");
}

void Communicator::broadcast(void* data, std::size_t bytes, int root) const {
  MAXPLUS_REQUIRE(root >= 0 && root < size(), fmt::format("root {} of {} ranks", root, size()));
  const std::size_t sent = rank() == root ? bytes * static_cast<std::size_t>(size() - 1) : 0;
  const Scope scope(*impl_, {Signature::Call::broadcast, static_cast<std::int64_t>(bytes), Signature::Type::byte, root},
                    sent);
  if (size() > 1) impl_->broadcast_pieces(static_cast<char*>(data), bytes, root);
}

Pending Communicator::begin_broadcast(void* data, std::size_t bytes, int root) const {
  MAXPLUS_REQUIRE(root >= 0 && root < size(), fmt::format("root {} of {} ranks", root, size()));
  Pending pending(impl_->name);
  const std::size_t sent = rank() == root ? bytes * static_cast<std::size_t>(size() - 1) : 0;
  const Scope scope(*impl_,
                    {Signature::Call::begin_broadcast, static_cast<std::int64_t>(bytes), Signature::Type::byte, root},
                    sent, Comparing::off);
  if (size() == 1) return pending;
  impl_->in_pieces(static_cast<char*>(data), bytes, [&](char* at, int count) {
    MPI_Request request = MPI_REQUEST_NULL;
    impl_->check(MPI_Ibcast(at, count, MPI_BYTE, root, impl_->comm, &request), "MPI_Ibcast");
    pending.add(request);
  });
  return pending;
}

namespace {

template <class T, class Impl, class Fold>
void fold(Impl& impl, std::span<T> values, Signature::Call call, Fold combine) {
  const auto type = std::is_same_v<T, double> ? Signature::Type::f64 : Signature::Type::i64;
  const std::size_t sent =
      impl.rank == 0 ? values.size_bytes() * static_cast<std::size_t>(impl.size - 1) : values.size_bytes();
  const Scope scope(impl, {call, static_cast<std::int64_t>(values.size_bytes()), type, 0}, sent);
  if (impl.size > 1) impl.fold_on_root(values, combine);
}

double larger(double a, double b) { return std::isnan(a) || a > b ? a : b; }  // a NaN on either side comes through
double smaller(double a, double b) { return std::isnan(a) || a < b ? a : b; }

}  // namespace

void Communicator::sum(std::span<double> values) const {
  fold(*impl_, values, Signature::Call::sum, [](double a, double b) { return a + b; });
}
void Communicator::sum(std::span<std::int64_t> values) const {
  fold(*impl_, values, Signature::Call::sum, [](std::int64_t a, std::int64_t b) { return a + b; });
}
void Communicator::maximum(std::span<double> values) const { fold(*impl_, values, Signature::Call::maximum, larger); }
void Communicator::minimum(std::span<double> values) const { fold(*impl_, values, Signature::Call::minimum, smaller); }

std::int64_t Communicator::maximum(std::int64_t value) const {
  fold(*impl_, std::span(&value, 1), Signature::Call::maximum,
       [](std::int64_t a, std::int64_t b) { return std::max(a, b); });
  return value;
}
std::int64_t Communicator::minimum(std::int64_t value) const {
  fold(*impl_, std::span(&value, 1), Signature::Call::minimum,
       [](std::int64_t a, std::int64_t b) { return std::min(a, b); });
  return value;
}
std::int64_t Communicator::sum(std::int64_t value) const {
  sum(std::span(&value, 1));
  return value;
}
bool Communicator::any(bool value) const { return maximum(std::int64_t{value ? 1 : 0}) != 0; }
bool Communicator::all(bool value) const { return minimum(std::int64_t{value ? 1 : 0}) != 0; }

std::vector<std::vector<std::byte>> Communicator::gather_all(std::span<const std::byte> mine) const {
  const auto ranks = static_cast<std::size_t>(size());
  const Scope scope(*impl_, {Signature::Call::gather_all, 0, Signature::Type::byte, 0},
                    (mine.size() + 8) * (ranks - 1));
  if (ranks == 1) return {std::vector<std::byte>(mine.begin(), mine.end())};
  const std::uint64_t length = mine.size();
  std::vector<std::uint64_t> lengths(ranks);
  impl_->check(MPI_Allgather(&length, 1, MPI_UINT64_T, lengths.data(), 1, MPI_UINT64_T, impl_->comm), "MPI_Allgather");
  const std::vector<std::size_t> bytes(lengths.begin(), lengths.end());
  std::vector<std::byte> flat(total(bytes));
  std::size_t offset = 0;
  for (int r = 0; r < rank(); ++r) offset += bytes[static_cast<std::size_t>(r)];
  std::copy(mine.begin(), mine.end(), flat.begin() + static_cast<std::ptrdiff_t>(offset));
  impl_->ring(reinterpret_cast<char*>(flat.data()), bytes);
  std::vector<std::vector<std::byte>> result(ranks);
  auto from = flat.begin();
  for (std::size_t r = 0; r < ranks; ++r) {
    const auto to = from + static_cast<std::ptrdiff_t>(bytes[r]);
    result[r].assign(from, to);
    from = to;
  }
  return result;
}

void Communicator::exchange(const void* send, std::span<const std::size_t> send_bytes, void* receive,
                            std::span<const std::size_t> receive_bytes) const {
  const auto ranks = static_cast<std::size_t>(size());
  const auto me = static_cast<std::size_t>(rank());
  MAXPLUS_REQUIRE(send_bytes.size() == ranks && receive_bytes.size() == ranks, "exchange needs one size a rank");
  MAXPLUS_REQUIRE(send_bytes[me] == receive_bytes[me], "a rank expects from itself what it sends");
  const Scope scope(*impl_, {Signature::Call::exchange, 0, Signature::Type::byte, 0},
                    total(send_bytes) - send_bytes[me]);
  impl_->compare_exchange(send_bytes, receive_bytes);
  std::vector<std::size_t> out(ranks + 1, 0), in(ranks + 1, 0);
  for (std::size_t r = 0; r < ranks; ++r) {
    out[r + 1] = out[r] + send_bytes[r];
    in[r + 1] = in[r] + receive_bytes[r];
  }
  const char* source = static_cast<const char*>(send);
  char* target = static_cast<char*>(receive);
  if (send_bytes[me] > 0) std::memcpy(target + in[me], source + out[me], send_bytes[me]);
  for (std::size_t s = 1; s < ranks; ++s) {
    const std::size_t to = (me + s) % ranks, from = (me + ranks - s) % ranks;
    impl_->send_receive(source + out[to], send_bytes[to], static_cast<int>(to), target + in[from], receive_bytes[from],
                        static_cast<int>(from), kTagExchange);
  }
}

void Communicator::gather_all_in_place(void* data, std::span<const std::size_t> bytes_of_rank) const {
  const auto ranks = static_cast<std::size_t>(size());
  MAXPLUS_REQUIRE(bytes_of_rank.size() == ranks, "gather_all_in_place needs one size a rank");
  const std::size_t bytes = total(bytes_of_rank);
  std::int64_t weighted = 0;  // tells tables of the same total apart
  for (std::size_t r = 0; r < ranks; ++r) {
    weighted = static_cast<std::int64_t>(static_cast<std::uint64_t>(weighted) * 31 + bytes_of_rank[r]);
  }
  const Scope scope(
      *impl_, {Signature::Call::gather_all_in_place, static_cast<std::int64_t>(bytes), Signature::Type::byte, weighted},
      bytes_of_rank[static_cast<std::size_t>(rank())] * (ranks - 1));
  if (ranks > 1) impl_->ring(static_cast<char*>(data), bytes_of_rank);
}

void Communicator::require_equal(const std::string& what, const std::string& text) const {
  const Scope scope(*impl_, {Signature::Call::require_equal, 0, Signature::Type::byte, 0},
                    rank() == 0 ? (text.size() + 8) * static_cast<std::size_t>(size() - 1) : 0);
  if (size() == 1) return;
  std::uint64_t length = text.size();
  impl_->check(MPI_Bcast(&length, 1, MPI_UINT64_T, 0, impl_->comm), "MPI_Bcast");
  std::string of_root = text;
  of_root.resize(length);
  impl_->broadcast_pieces(of_root.data(), length, 0);
  int wrong = of_root == text ? size() : rank(), first = 0;
  impl_->check(MPI_Allreduce(&wrong, &first, 1, MPI_INT, MPI_MIN, impl_->comm), "MPI_Allreduce");
  if (first == size()) return;
  std::uint64_t other_length = text.size();
  impl_->check(MPI_Bcast(&other_length, 1, MPI_UINT64_T, first, impl_->comm), "MPI_Bcast");
  std::string other = text;
  other.resize(other_length);
  impl_->broadcast_pieces(other.data(), other_length, first);
  constexpr std::size_t kShown = 400;
  throw Error(ExitCode::protocol,
              Fault{"",
                    fmt::format("the ranks of '{}' disagree on the {}: rank 0 has '{}', rank {} has '{}'", impl_->name,
                                what, of_root.substr(0, kShown), first, other.substr(0, kShown)),
                    "the same on every rank", "start all ranks with the same program, deck and files"});
}

}  // namespace maxplus
