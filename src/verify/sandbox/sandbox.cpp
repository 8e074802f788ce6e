#include "verify/sandbox/sandbox.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "verify/sandbox/program_text.hpp"

namespace maxplus {

namespace {

using Clock = SandboxedProgram::Clock;

constexpr auto kKeeperPatience = std::chrono::seconds(20);  // with our own processes, on a machine that is busy
constexpr std::size_t kBlock = 65536;

int milliseconds_until(Clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000));
}

// The keeper's next message, which is due.
nlohmann::json answer_of(int session) {
  const auto deadline = Clock::now() + kKeeperPatience;
  pollfd watched = {session, POLLIN, 0};
  while (::poll(&watched, 1, milliseconds_until(deadline)) <= 0) {
    if (Clock::now() >= deadline) throw SandboxFailure("the broker does not answer");
  }
  std::optional<Message> message = receive_message(session);
  if (!message) throw SandboxFailure("the broker or a keeper of programs died");
  if (const auto failure = message->body.find("failure"); failure != message->body.end())
    throw SandboxFailure(failure->get<std::string>());
  return std::move(message->body);
}

}  // namespace

Sandbox::Sandbox(const Broker& broker, const SandboxPolicy& policy, std::string_view text)
    : policy_(policy), session_(broker.open_session()) {
  const bool bare = policy.tier == Tier::none && text.empty();
  const Descriptor program = bare ? Descriptor() : text_in_memory(text);
  const int number = program.number();
  if (!send_message(session_.number(), {{"policy", as_json(policy_)}}, std::span<const int>(&number, bare ? 0 : 1)))
    throw SandboxFailure("the broker is gone");
  answer_of(session_.number());
}

void Sandbox::take_text(std::string_view text) {
  const Descriptor program = text_in_memory(text);
  const int number = program.number();
  if (!send_message(session_.number(), {{"text", true}}, std::span<const int>(&number, 1)))
    throw SandboxFailure("a keeper of programs died");
  if (!answer_of(session_.number()).contains("ready")) throw SandboxFailure("a keeper of programs is out of step");
}

void Sandbox::start(const nlohmann::json& what, std::span<const int> descriptors) {
  if (!send_message(session_.number(), what, descriptors)) throw SandboxFailure("a keeper of programs died");
}

void Sandbox::ask_to_stop() { send_message(session_.number(), {{"stop", true}}, {}); }

bool Sandbox::has_ended() const {
  pollfd watched = {session_.number(), POLLIN, 0};
  return ::poll(&watched, 1, 0) > 0;
}

ProgramEnd Sandbox::read_end() {
  const nlohmann::json message = answer_of(session_.number());
  ProgramEnd end;
  end.killed = message.at("end").get<std::string>() == "killed";
  message.at("code").get_to(end.code);
  end.cpu_s = message.at("cpu_ms").get<double>() / 1000;
  message.at("over").get_to(end.over);
  return end;
}

SandboxedProgram::SandboxedProgram(Sandbox& sandbox, std::vector<std::string> argument, const std::string& probe,
                                   std::size_t output_limit)
    : sandbox_(sandbox), output_limit_(output_limit) {
  int in[2], out[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, in) != 0)
    throw SandboxFailure(fmt::format("socketpair: {}", std::strerror(errno)));
  input_ = Descriptor(in[0]);  // a socket: a write to a program that has ended raises no signal
  const Descriptor theirs_in(in[1]);
  ::shutdown(in[0], SHUT_RD);  // what a program writes to its input goes nowhere, and does not block it
  if (::pipe2(out, O_CLOEXEC) != 0) throw SandboxFailure(fmt::format("pipe: {}", std::strerror(errno)));
  output_pipe_ = Descriptor(out[0]);
  const Descriptor theirs_out(out[1]);
  ::fcntl(output_pipe_.number(), F_SETFL, O_NONBLOCK);
  const Descriptor nothing(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  nlohmann::json start = nlohmann::json::object();
  if (argument.empty()) {
    start["probe"] = probe;
  } else {
    start["argument"] = std::move(argument);
  }
  const std::array<int, 3> descriptors = {theirs_in.number(), theirs_out.number(), nothing.number()};
  sandbox_.start(start, descriptors);
}

SandboxedProgram::~SandboxedProgram() {
  try {
    stop();
  } catch (const std::exception&) {  // the keeper is gone, and with it the program
  }
}

void SandboxedProgram::feed(std::string_view input) {
  pending_.erase(0, sent_);
  sent_ = 0;
  pending_ += input;
}

void SandboxedProgram::close_input() { input_closed_ = true; }

void SandboxedProgram::write_some() {
  const ssize_t n = ::send(input_.number(), pending_.data() + sent_, std::min(kBlock, pending_.size() - sent_),
                           MSG_NOSIGNAL | MSG_DONTWAIT);
  if (n >= 0) {
    sent_ += static_cast<std::size_t>(n);
  } else if (errno != EAGAIN && errno != EINTR) {
    sent_ = pending_.size();  // it has closed its input: it may do without
  }
}

bool SandboxedProgram::read_some() {
  std::array<char, kBlock> block;
  const ssize_t n = ::read(output_pipe_.number(), block.data(), block.size());
  if (n > 0) {
    output_.append(block.data(), static_cast<std::size_t>(n));
    read_ += static_cast<std::size_t>(n);
    return read_ <= output_limit_;
  }
  if (n == 0) output_pipe_.close();
  return true;
}

SandboxedProgram::Event SandboxedProgram::pump(Clock::time_point deadline, bool stop_at_line) {
  for (;;) {
    if (stop_at_line && output_.find('\n') != std::string::npos) return Event::line;
    if (end_ && !output_pipe_) return Event::ended;
    if (!end_ && Clock::now() >= deadline) return Event::late;
    if (input_ && sent_ == pending_.size() && input_closed_) input_.close();
    const bool writes = input_ && sent_ < pending_.size();
    // Negative descriptors are left out by poll.
    std::array<pollfd, 3> watched = {{{end_ ? -1 : sandbox_.socket(), POLLIN, 0},
                                      {output_pipe_.number(), POLLIN, 0},
                                      {writes ? input_.number() : -1, POLLOUT, 0}}};
    ::poll(watched.data(), watched.size(), end_ ? 1000 : milliseconds_until(deadline));
    if (watched[1].revents != 0 && !read_some()) return Event::flooded;
    if (watched[2].revents != 0) write_some();
    if (watched[0].revents != 0) take_end();
  }
}

SandboxedProgram::Event SandboxedProgram::wait(Clock::time_point deadline) { return pump(deadline, false); }

SandboxedProgram::Event SandboxedProgram::wait_for_line(Clock::time_point deadline) { return pump(deadline, true); }

std::string SandboxedProgram::take_line() {
  const std::size_t end = output_.find('\n');
  std::string line = output_.substr(0, end);
  output_.erase(0, end == std::string::npos ? end : end + 1);
  return line;
}

void SandboxedProgram::stop() {
  if (end_) return;
  sandbox_.ask_to_stop();
  take_end();
}

void SandboxedProgram::take_end() {
  end_ = ProgramEnd();  // whatever comes, nothing more will
  end_ = sandbox_.read_end();
}

}  // namespace maxplus
