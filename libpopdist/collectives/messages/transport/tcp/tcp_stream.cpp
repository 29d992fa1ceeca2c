// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/messages/transport/tcp/tcp_stream.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace popdist::transport {
namespace {

constexpr std::size_t kMinCapacity = 16 << 10;
constexpr std::size_t kMaxCapacity = 256 << 10;  // the result of its reduction shares the L2 cache with it

}  // namespace

pop::Result<std::optional<AcceptedStream>> Dialler::advance(const SocketAddress& own,
                                                            const SocketAddress& peer, SocketSleeper& sleeper,
                                                            const std::string& congestion_control) {
  using Outcome = std::optional<AcceptedStream>;
  if (!socket_.valid()) {
    POP_ASSIGN_OR_RETURN(socket_, beginConnecting(own, peer, congestion_control));
  }
  if (!introduced_) {
    // Sent before the connection is up, it fails with EAGAIN; afterwards there is room for so little.
    const ssize_t sent =
        ::send(socket_.get(), introduction_.data(), introduction_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0 && (errno == EAGAIN || errno == ENOTCONN)) {
      sleeper.awaiting(socket_.get(), POLLOUT);
      return Outcome();
    }
    if (sent != static_cast<ssize_t>(introduction_.size())) return pop::errnoStatus("connecting", errno);
    introduced_ = true;
  }
  const ssize_t received =
      ::recv(socket_.get(), reply_.data() + reply_bytes_, reply_.size() - reply_bytes_, MSG_DONTWAIT);
  if (received < 0 && (errno == EAGAIN || errno == EINTR)) {
    sleeper.awaiting(socket_.get(), POLLIN);
    return Outcome();
  }
  if (received < 0) return pop::errnoStatus("connecting", errno);
  if (received == 0) return pop::unavailable("it has closed the connection");
  reply_bytes_ += static_cast<std::size_t>(received);
  if (reply_bytes_ < reply_.size()) return Outcome();
  if (!isReplyTo(job_, introduction_, reply_))
    return pop::unavailable("the process that answered does not belong to this job");
  const ProofBytes proof = encodeProof(job_, introduction_, reply_);
  const ssize_t sent = ::send(socket_.get(), proof.data(), proof.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent != static_cast<ssize_t>(proof.size())) return pop::errnoStatus("connecting", errno);
  return Outcome(AcceptedStream{std::move(socket_), connectionKeys(job_, introduction_, reply_)});
}

std::span<std::byte> ReceiveBuffer::room(std::size_t wanted) {
  const std::size_t held_bytes = end_ - begin_;
  if (wanted > capacity_) {
    const std::size_t capacity = std::clamp(wanted, kMinCapacity, kMaxCapacity);
    if (capacity > capacity_) {
      auto memory = std::make_unique_for_overwrite<std::byte[]>(capacity);
      if (held_bytes > 0) std::memcpy(memory.get(), memory_.get() + begin_, held_bytes);
      memory_ = std::move(memory);
      capacity_ = capacity;
      begin_ = 0;
      end_ = held_bytes;
    }
  }
  const std::size_t limit = std::min(wanted, capacity_);
  if (begin_ > 0 && begin_ + limit > capacity_) {
    std::memmove(memory_.get(), memory_.get() + begin_, held_bytes);
    begin_ = 0;
    end_ = held_bytes;
  }
  return {memory_.get() + end_, limit > held_bytes ? limit - held_bytes : 0};
}

void ReceiveBuffer::drop(std::size_t bytes) {
  begin_ += bytes;
  if (begin_ == end_) begin_ = end_ = 0;
}

}  // namespace popdist::transport
