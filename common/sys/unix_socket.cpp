// SPDX-License-Identifier: Apache-2.0
#include "common/sys/unix_socket.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace pop::sys {
namespace {

constexpr std::size_t kMaxFds = 8;
constexpr std::size_t kReceiveBytes = 64 << 10;

struct AbstractAddress {
  sockaddr_un address{};
  socklen_t bytes = 0;
};

Result<AbstractAddress> abstractAddress(const std::string& name) {
  AbstractAddress result;
  result.address.sun_family = AF_UNIX;
  // sun_path starts with a zero byte: that is what makes the name abstract.
  if (name.size() + 1 > sizeof(result.address.sun_path))
    return invalidArgument("socket name too long: " + name);
  std::memcpy(result.address.sun_path + 1, name.data(), name.size());
  result.bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return result;
}

Result<Fd> newSocket(int flags) {
  Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0));
  if (!socket.valid()) return errnoStatus("creating a Unix socket", errno);
  return socket;
}

const sockaddr* generic(const AbstractAddress& address) {
  return reinterpret_cast<const sockaddr*>(&address.address);
}

}  // namespace

Result<std::pair<Fd, Fd>> socketPair() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return errnoStatus("creating a socket pair", errno);
  }
  return std::pair(Fd(ends[0]), Fd(ends[1]));
}

Result<Fd> listenAbstract(const std::string& name) {
  POP_ASSIGN_OR_RETURN(const AbstractAddress address, abstractAddress(name));
  POP_ASSIGN_OR_RETURN(Fd socket, newSocket(SOCK_NONBLOCK));
  if (::bind(socket.get(), generic(address), address.bytes) != 0 || ::listen(socket.get(), SOMAXCONN) != 0) {
    return errnoStatus("listening on the socket @" + name, errno);
  }
  return socket;
}

Result<Fd> connectAbstract(const std::string& name) {
  POP_ASSIGN_OR_RETURN(const AbstractAddress address, abstractAddress(name));
  POP_ASSIGN_OR_RETURN(Fd socket, newSocket(0));
  if (::connect(socket.get(), generic(address), address.bytes) != 0) {
    return errnoStatus("connecting to the socket @" + name, errno);
  }
  return socket;
}

namespace {

Result<sockaddr_un> addressOf(const std::string& path) {
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  if (path.size() >= sizeof(address.sun_path)) return invalidArgument("socket path too long: " + path);
  path.copy(address.sun_path, path.size());
  return address;
}

}  // namespace

Result<Fd> listenPath(const std::string& path) {
  POP_ASSIGN_OR_RETURN(const sockaddr_un address, addressOf(path));
  POP_ASSIGN_OR_RETURN(Fd socket, newSocket(SOCK_NONBLOCK));
  ::unlink(path.c_str());
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
      ::listen(socket.get(), SOMAXCONN) != 0)
    return errnoStatus("listening on the socket " + path, errno);
  return socket;
}

Result<Fd> connectPath(const std::string& path) {
  POP_ASSIGN_OR_RETURN(const sockaddr_un address, addressOf(path));
  POP_ASSIGN_OR_RETURN(Fd socket, newSocket(SOCK_NONBLOCK));
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0)
    return socket;
  if (errno == EAGAIN)
    return Status(Code::kResourceExhausted, "the queue of the socket " + path + " is full");
  return errnoStatus("connecting to the socket " + path, errno);
}

Result<Fd> acceptConnection(int listener) {
  Fd connection(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!connection.valid() && errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) {
    return errnoStatus("accepting a connection", errno);
  }
  return connection;
}

Result<uid_t> peerUser(int socket) {
  ucred credentials{};
  socklen_t bytes = sizeof(credentials);
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &bytes) != 0) {
    return errnoStatus("reading the user at the other end of a socket", errno);
  }
  return credentials.uid;
}

namespace {

// `await_room`: called when a non-blocking socket accepts nothing more.
template <typename AwaitRoom>
Status send(int socket, std::string_view bytes, std::span<const int> fds, int flags,
            const AwaitRoom& await_room) {
  POP_CHECK(fds.size() <= kMaxFds && !bytes.empty());
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMaxFds * sizeof(int))> control{};
  while (!bytes.empty()) {
    iovec part{const_cast<char*>(bytes.data()), bytes.size()};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (!fds.empty()) {
      message.msg_control = control.data();
      message.msg_controllen = CMSG_SPACE(fds.size_bytes());
      cmsghdr* header = CMSG_FIRSTHDR(&message);
      header->cmsg_level = SOL_SOCKET;
      header->cmsg_type = SCM_RIGHTS;
      header->cmsg_len = CMSG_LEN(fds.size_bytes());
      std::memcpy(CMSG_DATA(header), fds.data(), fds.size_bytes());
    }
    const ssize_t sent = ::sendmsg(socket, &message, MSG_NOSIGNAL | flags);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) {
      POP_RETURN_IF_ERROR(await_room());
      continue;
    }
    if (sent < 0) return errnoStatus("sending on a Unix socket", errno);
    bytes.remove_prefix(static_cast<std::size_t>(sent));
    fds = {};
  }
  return {};
}

// The process may have been stopped without notice.
constexpr std::chrono::milliseconds kLongestSleep{100};

}  // namespace

Status sendAll(int socket, std::string_view bytes, std::span<const int> fds) {
  return send(socket, bytes, fds, 0, [socket]() -> Status {
    pollfd writable{socket, POLLOUT, 0};
    ::poll(&writable, 1, -1);
    return {};
  });
}

Status sendAllUntil(int socket, std::string_view bytes, AwakeClock::time_point deadline) {
  return send(socket, bytes, {}, MSG_DONTWAIT, [socket, deadline]() -> Status {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - AwakeClock::now());
    if (left.count() <= 0) return {Code::kDeadlineExceeded, "the other end of a Unix socket does not read"};
    pollfd writable{socket, POLLOUT, 0};
    ::poll(&writable, 1, static_cast<int>(std::min(left, kLongestSleep).count()));
    return {};
  });
}

Result<Received> receiveSome(int socket) {
  Received received;
  std::array<char, kReceiveBytes>
      buffer;  // left as it is: touching all its pages costs more than most messages
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMaxFds * sizeof(int))> control{};
  iovec part{buffer.data(), buffer.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t got = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  if (got < 0) {
    received.would_block = errno == EAGAIN || errno == EINTR;
    if (received.would_block || errno == ECONNRESET) return received;
    return errnoStatus("receiving from a Unix socket", errno);
  }
  received.bytes.assign(buffer.data(), static_cast<std::size_t>(got));
  received.lost_fds = (message.msg_flags & MSG_CTRUNC) != 0;
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(header) + i * sizeof(int), sizeof(int));
      received.fds.emplace_back(fd);
    }
  }
  return received;
}

}  // namespace pop::sys
