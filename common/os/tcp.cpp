// SPDX-License-Identifier: Apache-2.0
#include "common/os/tcp.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "common/base/text.h"

namespace pop::os {
namespace {

constexpr int kBacklog = 1024;

// Blocking lookup of a name of this host, while a service starts.
constexpr int kLookupTimeoutMs = 10000;

void setOption(int socket, int level, int option, int value) {
  ::setsockopt(socket, level, option, &value, sizeof(value));
}

// A machine that has lost power sends nothing, and this side may have nothing to send to it: the kernel
// probes after a minute, and ends the connection half a minute later without an answer. No TCP_USER_TIMEOUT:
// it would end a connection whose other side is alive but does not read.
void setKeepalive(int socket) {
  setOption(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  setOption(socket, IPPROTO_TCP, TCP_KEEPIDLE, 60);
  setOption(socket, IPPROTO_TCP, TCP_KEEPINTVL, 10);
  setOption(socket, IPPROTO_TCP, TCP_KEEPCNT, 3);
}

int errorOf(int socket) {
  int error = 0;
  socklen_t bytes = sizeof(error);
  return ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &bytes) == 0 ? error : errno;
}

int portOf(const Address& address) {
  const in_port_t port = address.storage.ss_family == AF_INET6
                             ? reinterpret_cast<const sockaddr_in6*>(&address.storage)->sin6_port
                             : reinterpret_cast<const sockaddr_in*>(&address.storage)->sin_port;
  return ntohs(port);
}

int portOf(int socket) {
  Address own;
  own.bytes = sizeof(own.storage);
  ::getsockname(socket, reinterpret_cast<sockaddr*>(&own.storage), &own.bytes);
  return portOf(own);
}

}  // namespace

// The lookup times out a little before the dial itself, so that the error can name the lookup.
TcpDial::TcpDial(EpollLoop& loop, const std::string& host, int port, std::chrono::milliseconds timeout,
                 std::function<void(Dialled)> done, Resolver resolver)
    : loop_(loop),
      deadline_(loop.timerTime() + timeout),
      done_(std::move(done)),
      lookup_(host, port, std::move(resolver)) {
  if (lookup_.event() < 0) {
    begin();
    return;
  }
  loop_.watchReadable(lookup_.event(), [this] {
    dropTimer();
    loop_.unwatch(lookup_.event());
    begin();
  });
  timer_ = loop_.postAfter(timeout * 9 / 10, [this, host] {
    loop_.unwatch(lookup_.event());
    finish({.lookup = unavailable("looking up its name " + inQuotes(host) +
                                  ": the name server does not answer (see /etc/resolv.conf)")});
  });
}

TcpDial::~TcpDial() {
  dropTimer();
  if (lookup_.event() >= 0) loop_.unwatch(lookup_.event());
  if (socket_.valid()) loop_.unwatch(socket_.get());
}

void TcpDial::dropTimer() {
  if (timer_) loop_.cancel(*std::exchange(timer_, std::nullopt));
}

void TcpDial::begin() {
  Result<std::vector<Address>> found = lookup_.addresses();
  if (!found.ok()) return finish({.lookup = found.status()});
  addresses_ = std::move(*found);
  tryNext();
}

void TcpDial::tryNext() {
  const Address& address = addresses_.at(next_++);
  socket_ = sys::Fd(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket_.valid()) return giveUp(errno);
  setOption(socket_.get(), IPPROTO_TCP, TCP_NODELAY, 1);
  if (::connect(socket_.get(), address.get(), address.bytes) != 0 && errno != EINPROGRESS)
    return giveUp(errno);
  loop_.watchWritable(socket_.get(), [this] { settle(); });
  const auto left = std::max(Clock::duration::zero(), deadline_ - loop_.timerTime());
  const auto share = left / static_cast<int>(addresses_.size() - next_ + 1);
  timer_ =
      loop_.postAfter(std::chrono::ceil<std::chrono::milliseconds>(share), [this] { giveUp(ETIMEDOUT); });
}

void TcpDial::settle() {
  dropTimer();
  if (const int error = errorOf(socket_.get()); error != 0) return giveUp(error);
  loop_.unwatch(socket_.get());
  done_({.socket = std::move(socket_)});
}

void TcpDial::giveUp(int error_number) {
  timer_.reset();
  if (socket_.valid()) loop_.unwatch(socket_.get());
  socket_.reset();
  if (error_number_ == 0) error_number_ = error_number;
  next_ < addresses_.size() ? tryNext() : finish({.error_number = error_number_});
}

// From the loop: the caller may not have stored this object yet.
void TcpDial::finish(Dialled dialled) {
  const auto outcome = std::make_shared<Dialled>(std::move(dialled));
  timer_ = loop_.postAfter({}, [this, outcome] {
    timer_.reset();
    done_(std::move(*outcome));
  });
}

Result<Listener> listenAt(const std::string& address, int port) {
  const NameLookup lookup(address, port);
  if (pollfd known{lookup.event(), POLLIN, 0}; known.fd >= 0) ::poll(&known, 1, kLookupTimeoutMs);
  POP_ASSIGN_OR_RETURN(const std::vector<Address> addresses, lookup.addresses());
  const Address& own = addresses.front();
  Listener listener{
      .socket = sys::Fd(::socket(own.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0))};
  const int socket = listener.socket.get();
  if (!listener.socket.valid()) return errnoStatus("listening at " + address, errno);
  setOption(socket, SOL_SOCKET, SO_REUSEADDR, 1);
  if (own.storage.ss_family == AF_INET6) setOption(socket, IPPROTO_IPV6, IPV6_V6ONLY, 0);
  if (::bind(socket, own.get(), own.bytes) != 0 || ::listen(socket, kBacklog) != 0)
    return errnoStatus("listening at " + address, errno);
  listener.port = portOf(socket);
  return listener;
}

AcceptedConnection acceptConnection(int listener) {
  Address peer;
  peer.bytes = sizeof(peer.storage);
  AcceptedConnection pending{.socket = sys::Fd(::accept4(listener, reinterpret_cast<sockaddr*>(&peer.storage),
                                                         &peer.bytes, SOCK_CLOEXEC | SOCK_NONBLOCK))};
  if (!pending.socket.valid()) {
    // A connection that was closed while it waited does not count.
    const bool none = errno == EAGAIN || errno == EINTR || errno == ECONNABORTED;
    pending.error_number = none ? 0 : errno;
    return pending;
  }
  setOption(pending.socket.get(), IPPROTO_TCP, TCP_NODELAY, 1);
  setKeepalive(pending.socket.get());
  pending.address = numeric(peer);
  pending.port = portOf(peer);
  return pending;
}

}  // namespace pop::os
