// SPDX-License-Identifier: Apache-2.0
#include "agent/mpi/pmix_program/pmix_relay.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <utility>

#include "agent/mpi/pmix/connection_user.h"
#include "common/log/log.h"
#include "common/os/tcp.h"

namespace pop::pmix {
namespace {

constexpr std::size_t kReadBytes = 64 << 10;

// After the system has run out of descriptors.
constexpr std::chrono::milliseconds kUntilNextTry{20};

// Not connected yet when it returns; writing works once it is.
sys::Fd connectTo(int port) {
  sys::Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.valid()) return socket;
  const int yes = 1;
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 &&
      errno != EINPROGRESS)
    socket.reset();
  return socket;
}

bool isTemporary(int error) {
  return error == EAGAIN || error == EINTR;
}

}  // namespace

Relay::Relay(os::EpollLoop& loop, sys::Fd listener, int port)
    : loop_(loop), listener_(std::move(listener)), port_(port) {
  listen();
}

Relay::~Relay() {
  while (!connections_.empty()) close(connections_.begin()->first);
  if (next_try_) loop_.cancel(*next_try_);
  loop_.unwatch(listener_.get());
}

void Relay::listen() {
  next_try_.reset();
  loop_.watchReadable(listener_.get(), [this] { accept(); });
}

void Relay::accept() {
  os::AcceptedConnection accepted = os::acceptConnection(listener_.get());
  if (accepted.socket.valid()) {
    if (mayEnter(accepted.socket.get())) open(std::move(accepted.socket));
  } else if (accepted.error_number != 0) {
    loop_.unwatch(listener_.get());
    next_try_ = loop_.postAfter(kUntilNextTry, [this] { listen(); });
  }
}

bool Relay::mayEnter(int client) {
  const Result<uid_t> user = tcpPeerUser(client);
  if (user.ok() && user.value() == ::geteuid()) return true;
  if (user.status().code() != Code::kNotFound && !std::exchange(has_refused_, true))
    log::warning("refused a connection to the job's PMIx server" +
                 (user.ok() ? " from user " + std::to_string(user.value()) : ": " + user.status().message()) +
                 " (further refusals are not logged)");
  return false;
}

void Relay::open(sys::Fd client) {
  sys::Fd server = connectTo(port_);
  if (!server.valid()) return;
  const int from = client.get();
  const int to = server.get();
  Connection& made = connections_[from];
  made = {.client = std::move(client),
          .server = std::move(server),
          .to_server = {.from = from, .to = to, .waiting = {}},
          .to_client = {.from = to, .to = from, .waiting = {}}};
  for (Stream* stream : {&made.to_server, &made.to_client})
    loop_.watchReadable(stream->from, [this, from, stream] { read(from, *stream); });
}

void Relay::read(int client, Stream& stream) {
  std::array<char, kReadBytes> buffer;
  const ssize_t got = ::recv(stream.from, buffer.data(), buffer.size(), 0);
  if (got < 0) {
    if (!isTemporary(errno)) close(client);
    return;
  }
  if (got == 0) return onEnd(client, stream);
  stream.waiting.assign(buffer.data(), static_cast<std::size_t>(got));
  if (!write(client, stream) || stream.waiting.empty()) return;
  loop_.unwatchReadable(stream.from);
  loop_.watchWritable(stream.to, [this, client, &stream] { goOn(client, stream); });
}

void Relay::onEnd(int client, Stream& stream) {
  Connection& connection = connections_.at(client);
  if (&stream == &connection.to_server && finalized_ > 0) {
    --finalized_;
    loop_.unwatch(connection.server.get());
    kept_.push_back(std::move(connection.server));
    return close(client);
  }
  loop_.unwatchReadable(stream.from);
  ::shutdown(stream.to, SHUT_WR);
  stream.ended = true;
  if (connection.to_server.ended && connection.to_client.ended) close(client);
}

// False: the connection is closed, and the stream with it.
bool Relay::write(int client, Stream& stream) {
  const ssize_t sent = ::send(stream.to, stream.waiting.data(), stream.waiting.size(), MSG_NOSIGNAL);
  if (sent >= 0) {
    stream.waiting.erase(0, static_cast<std::size_t>(sent));
  } else if (!isTemporary(errno)) {
    close(client);
    return false;
  }
  return true;
}

void Relay::goOn(int client, Stream& stream) {
  if (!write(client, stream) || !stream.waiting.empty()) return;
  loop_.unwatchWritable(stream.to);
  loop_.watchReadable(stream.from, [this, client, &stream] { read(client, stream); });
}

void Relay::close(int client) {
  const auto found = connections_.find(client);
  loop_.unwatch(found->second.client.get());
  if (found->second.server.valid()) loop_.unwatch(found->second.server.get());
  connections_.erase(found);
  if (connections_.empty()) kept_.clear();
}

}  // namespace pop::pmix
