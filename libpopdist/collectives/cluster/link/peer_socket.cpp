// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/cluster/link/peer_socket.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include "common/sys/unix_socket.h"

namespace popdist::cluster {

// Probes find a host that is gone while nothing is sent, the other option one that takes nothing.
void watchForSilence(int socket) {
  const int on = 1;
  const int probe_seconds = kSilenceSeconds / 3;
  const int probes = 2;
  const int silence_ms = kSilenceSeconds * 1000;
  ::setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
  ::setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &probe_seconds, sizeof(probe_seconds));
  ::setsockopt(socket, IPPROTO_TCP, TCP_KEEPINTVL, &probe_seconds, sizeof(probe_seconds));
  ::setsockopt(socket, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof(probes));
  ::setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &silence_ms, sizeof(silence_ms));
}

bool PeerSocket::receive() {
  pop::Result<pop::sys::Received> received = pop::sys::receiveSome(socket_.get());
  if (!received.ok()) return false;
  if (received->would_block) return true;
  reader_.append(received->bytes);
  return !received->bytes.empty();
}

bool PeerSocket::send(Message type, std::vector<std::string> fields) {
  pop::Result<std::string> bytes =
      pop::contract::encode({static_cast<std::uint8_t>(type), std::move(fields)});
  if (!bytes.ok()) return false;
  out_ += *bytes;
  return flush();
}

bool PeerSocket::drop() {
  out_.clear();
  sent_ = 0;
  return false;
}

bool PeerSocket::flush() {
  while (hasUnsent()) {
    const ssize_t sent =
        ::send(socket_.get(), out_.data() + sent_, out_.size() - sent_, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) return true;
    if (sent < 0) return drop();
    sent_ += static_cast<std::size_t>(sent);
  }
  return !drop();
}

}  // namespace popdist::cluster
