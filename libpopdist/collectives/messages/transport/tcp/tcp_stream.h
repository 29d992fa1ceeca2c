// SPDX-License-Identifier: Apache-2.0
// One TCP stream between two ranks: how it comes up, and the bytes that were received but not used yet.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include "common/sys/fd.h"
#include "libpopdist/collectives/messages/transport/socket_sleeper.h"
#include "libpopdist/collectives/messages/transport/tcp/handshake.h"
#include "libpopdist/collectives/messages/transport/tcp/socket_address.h"

namespace popdist::transport {

/// The most that one call sends or receives, so that both directions and the reduction alternate on data in
/// the caches. With several streams, this much of a message travels on one stream before the next one's turn.
inline constexpr std::size_t kChunkBytes = 512 << 10;

/// A stream whose peer has proved that it belongs to the job.
struct AcceptedStream {
  pop::sys::Fd socket;
  ConnectionKeys keys;
};

/// Dials, and goes through the handshake.
class Dialler {
 public:
  Dialler(const Key& job, const Introduction& introduction)
      : job_(job), introduction_(encodeIntroduction(job, introduction)) {}
  /// The same over a socket that is connected already.
  Dialler(const Key& job, const Introduction& introduction, pop::sys::Fd connected)
      : job_(job), introduction_(encodeIntroduction(job, introduction)), socket_(std::move(connected)) {}

  /// Advances as far as possible without waiting. Returns the stream once it is up, nothing before that, or
  /// why it cannot come up. `congestion_control`: see beginConnecting().
  pop::Result<std::optional<AcceptedStream>> advance(const SocketAddress& own, const SocketAddress& peer,
                                                     SocketSleeper& sleeper,
                                                     const std::string& congestion_control = {});

 private:
  const Key job_;
  const IntroductionBytes introduction_;
  pop::sys::Fd socket_;
  bool introduced_ = false;
  ReplyBytes reply_{};
  std::size_t reply_bytes_ = 0;
};

/// Bytes in order of arrival, in one piece.
class ReceiveBuffer {
 public:
  std::span<std::byte> room(std::size_t wanted);  ///< after what is held; up to `wanted` in all
  void add(std::size_t bytes) { end_ += bytes; }
  std::span<const std::byte> held() const { return {memory_.get() + begin_, end_ - begin_}; }
  void drop(std::size_t bytes);

 private:
  std::unique_ptr<std::byte[]> memory_;
  std::size_t capacity_ = 0;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

struct TcpStream {
  pop::sys::Fd socket;  ///< valid: up
  ConnectionKeys keys;
  std::unique_ptr<Dialler> dialler;
  ReceiveBuffer buffer;
};

}  // namespace popdist::transport
