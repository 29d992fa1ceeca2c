// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/messages/transport/tcp/tcp_connection.h"

#include <poll.h>
#include <sys/uio.h>

#include <array>
#include <cerrno>

namespace popdist::transport {
namespace {

iovec part(std::span<const std::byte> bytes) {
  return {const_cast<std::byte*>(bytes.data()), bytes.size()};
}

}  // namespace

TcpConnection::TcpConnection(const Common& common, int rank, int peer, const SocketAddress& address)
    : common_(common),
      rank_(rank),
      peer_(peer),
      address_(address),
      streams_(static_cast<std::size_t>(common.setup.streams)) {}

bool TcpConnection::bringUp(TcpStream& stream) {
  if (stream.socket.valid()) return true;
  if (!failure_.ok()) return false;
  if (rank_ > peer_) {
    common_.reception->receive();
    return stream.socket.valid();
  }
  if (!stream.dialler) {
    stream.dialler =
        std::make_unique<Dialler>(common_.setup.job, Introduction{.group = common_.setup.group,
                                                                  .from = static_cast<std::uint32_t>(rank_),
                                                                  .to = static_cast<std::uint32_t>(peer_),
                                                                  .stream = indexOf(stream),
                                                                  .nonce = randomNonce()});
  }
  auto dialled =
      stream.dialler->advance(common_.own, address_, *common_.sleeper, common_.setup.congestion_control);
  if (!dialled.ok()) failure_ = dialled.status();
  if (!dialled.ok() || !dialled->has_value()) return false;
  stream.socket = std::move((*dialled)->socket);
  stream.keys = (*dialled)->keys;
  stream.dialler.reset();
  useKeys(stream);
  return true;
}

bool TcpConnection::adopt(std::uint32_t index, AcceptedStream accepted) {
  if (index >= streams_.size() || streams_[index].socket.valid()) return false;
  streams_[index].socket = std::move(accepted.socket);
  streams_[index].keys = accepted.keys;
  useKeys(streams_[index]);
  return true;
}

// The most that one call may move from `position` of a message on: with several streams, to the end of its
// chunk.
std::size_t TcpConnection::mostAt(std::size_t position) const {
  return streams_.size() == 1 ? kChunkBytes : kChunkBytes - position % kChunkBytes;
}

// Heads travel on the first stream.
void TcpConnection::useKeys(const TcpStream& stream) {
  if (&stream != &streams_.front()) return;
  const bool dialled = rank_ < peer_;
  outgoing_ = HeadSeal(dialled ? stream.keys.from_dialler : stream.keys.from_acceptor);
  incoming_ = HeadSeal(dialled ? stream.keys.from_acceptor : stream.keys.from_dialler);
}

bool TcpConnection::seal(Head head) {
  if (!bringUp(streams_.front())) return false;
  outgoing_.seal(head);
  head_waits_ = true;
  return true;
}

// Evaluates the result of a system call. True if it moved anything.
bool TcpConnection::settle(TcpStream& stream, ssize_t moved, short awaited_event) {
  if (moved > 0) return true;
  if (moved < 0 && (errno == EAGAIN || errno == EINTR)) {
    common_.sleeper->awaiting(stream.socket.get(), awaited_event);
  } else if (failure_.ok()) {
    failure_ = moved == 0 ? pop::unavailable("it has closed the connection")
                          : pop::errnoStatus("the connection broke", errno);
  }
  return false;
}

std::size_t TcpConnection::trySendBoth(std::span<const std::byte> first, std::span<const std::byte> second) {
  TcpStream& stream = streamAt(sent_);
  if (!bringUp(stream)) return 0;
  const std::size_t most = mostAt(sent_);
  const bool more_follows = streams_.size() == 1 && first.size() + second.size() > most;
  first = first.first(std::min(first.size(), most));
  second = second.first(std::min(second.size(), most - first.size()));
  if (first.empty() && second.empty()) return 0;
  std::array<iovec, 2> parts{part(first), part(second)};
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = second.empty() ? 1 : 2;
  // Packets are full but for a message's last: that is what a byte costs on a host.
  const int flags = MSG_DONTWAIT | MSG_NOSIGNAL | (more_follows ? MSG_MORE : 0);
  const ssize_t sent = ::sendmsg(stream.socket.get(), &message, flags);
  if (!settle(stream, sent, POLLOUT)) return 0;
  sent_ += static_cast<std::size_t>(sent);
  head_waits_ = false;
  return static_cast<std::size_t>(sent);
}

// A socket that is ready takes a head whole.
bool TcpConnection::tryTell(Head head, bool dials) {
  TcpStream& stream = streams_.front();
  if (sent_ != 0 || head_waits_ || !(dials ? bringUp(stream) : isUp())) return false;
  pollfd ready{stream.socket.get(), POLLOUT, 0};
  if (::poll(&ready, 1, 0) != 1 || ready.revents != POLLOUT) return false;
  outgoing_.seal(head);
  const ssize_t sent = ::send(stream.socket.get(), head.data(), head.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent == static_cast<ssize_t>(head.size())) return true;
  failure_ = pop::errnoStatus("the connection broke", sent < 0 ? errno : EMSGSIZE);
  return false;
}

// The reason that keeps a peer from being accepted may pass.
pop::Status TcpConnection::failure() const {
  const bool is_up = streamAt(sent_).socket.valid() && streamAt(received_).socket.valid();
  const bool awaits_peer = rank_ > peer_ && !is_up;
  return failure_.ok() && awaits_peer ? common_.reception->trouble() : failure_;
}

void TcpConnection::abandon(std::span<const std::byte> abort_message) {
  const TcpStream& stream = streams_.front();
  if (failure_.ok() && stream.socket.valid() && sent_ == 0 && !head_waits_) {
    std::vector<std::byte> message(abort_message.begin(), abort_message.end());
    outgoing_.seal(Head(message.data(), kHeadBytes));
    ::send(stream.socket.get(), message.data(), message.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  }
  failure_ = pop::failedPrecondition("this rank aborted an earlier call");
  for (TcpStream& each : streams_) each = {};
}

// The end of a stream comes behind its bytes. A peer that dials may have sent all it has behind its proof,
// which is then as late.
bool TcpConnection::mayStillDeliver() {
  if (!failure_.ok()) return false;
  const TcpStream& stream = streamAt(received_);
  return stream.socket.valid() || common_.reception->expectsProof({.group = common_.setup.group,
                                                                   .from = static_cast<std::uint32_t>(peer_),
                                                                   .to = static_cast<std::uint32_t>(rank_),
                                                                   .stream = indexOf(stream)});
}

void TcpConnection::fetch(std::size_t most) {
  TcpStream& stream = streamAt(received_);
  if (!bringUp(stream)) return;
  most = std::min(most, mostAt(received_));
  if (stream.buffer.held().size() >= std::min(most, kPartAlignmentBytes)) return;
  const std::span<std::byte> room = stream.buffer.room(most);
  const ssize_t received = ::recv(stream.socket.get(), room.data(), room.size(), MSG_DONTWAIT);
  if (settle(stream, received, POLLIN)) stream.buffer.add(static_cast<std::size_t>(received));
}

std::span<const std::byte> TcpConnection::peek() {
  const std::span<const std::byte> held = streamAt(received_).buffer.held();
  return held.first(std::min(held.size(), mostAt(received_)));
}

void TcpConnection::consume(std::size_t bytes) {
  streamAt(received_).buffer.drop(bytes);
  received_ += bytes;
}

std::size_t TcpConnection::tryReceive(std::span<std::byte> into) {
  const std::size_t buffered = Connection::tryReceive(into);
  if (buffered > 0) return buffered;
  TcpStream& stream = streamAt(received_);
  if (!bringUp(stream)) return 0;
  const std::size_t most = std::min(into.size(), mostAt(received_));
  const ssize_t received = ::recv(stream.socket.get(), into.data(), most, MSG_DONTWAIT);
  if (!settle(stream, received, POLLIN)) return 0;
  received_ += static_cast<std::size_t>(received);
  return static_cast<std::size_t>(received);
}

}  // namespace popdist::transport
