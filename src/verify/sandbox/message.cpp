#include "verify/sandbox/message.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include <fmt/format.h>

#include "base/error.hpp"

namespace maxplus {

namespace {

constexpr std::size_t kMaxMessageBytes = 131072;
constexpr std::size_t kMaxDescriptors = 4;
constexpr int kSendPatienceMs = 1000;

}  // namespace

SocketPair make_socket_pair() {
  int end[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, end) != 0)
    throw Error(ExitCode::os, fmt::format("socketpair: {}", std::strerror(errno)));
  return {Descriptor(end[0]), Descriptor(end[1])};
}

bool send_message(int socket, const nlohmann::json& body, std::span<const int> descriptors) {
  std::string text = body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  if (text.size() > kMaxMessageBytes || descriptors.size() > kMaxDescriptors) return false;
  iovec part = {text.data(), text.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMaxDescriptors * sizeof(int))> control{};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  if (!descriptors.empty()) {
    header.msg_control = control.data();
    header.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    cmsghdr* first = CMSG_FIRSTHDR(&header);
    first->cmsg_level = SOL_SOCKET;
    first->cmsg_type = SCM_RIGHTS;
    first->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(first), descriptors.data(), descriptors.size_bytes());
  }
  for (;;) {
    if (::sendmsg(socket, &header, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0) return true;
    if (errno == EINTR) continue;
    if (errno != EAGAIN) return false;
    pollfd watched = {socket, POLLOUT, 0};
    if (::poll(&watched, 1, kSendPatienceMs) <= 0 && errno != EINTR) return false;
  }
}

std::optional<Message> receive_message(int socket) {
  std::string text(kMaxMessageBytes, '\0');
  iovec part = {text.data(), text.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMaxDescriptors * sizeof(int))> control{};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  ssize_t bytes = 0;
  do {
    bytes = ::recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
  } while (bytes < 0 && errno == EINTR);
  Message message;
  for (cmsghdr* c = bytes < 0 ? nullptr : CMSG_FIRSTHDR(&header); c != nullptr; c = CMSG_NXTHDR(&header, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    for (std::size_t at = 0; CMSG_LEN(at + sizeof(int)) <= c->cmsg_len; at += sizeof(int)) {
      int number = -1;
      std::memcpy(&number, CMSG_DATA(c) + at, sizeof number);
      message.descriptor.emplace_back(number);
    }
  }
  if (bytes <= 0) return std::nullopt;
  message.body = nlohmann::json::parse(text.data(), text.data() + bytes, nullptr, false);
  if (!message.body.is_object()) return std::nullopt;
  return message;
}

}  // namespace maxplus
