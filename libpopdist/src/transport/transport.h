// SPDX-License-Identifier: Apache-2.0
// What the executor needs of a transport: byte channels between ranks, polled, never blocking.
//
// A channel carries messages whose lengths both sides know. Memory that was received can be read in place, so
// that a reduction needs no copy of its own. The order of messages between two ranks is the order in which
// they were sent.
#pragma once

#include <chrono>
#include <cstddef>
#include <span>

namespace popdist::transport {

/// Messages start at multiples of this in a channel, and a part of one that is offered (trySend, peek) is cut
/// only at multiples of kPartAlignmentBytes: no element, and no header of one aligned block, ever lies across
/// a cut.
inline constexpr std::size_t kMessageAlignmentBytes = 64;
inline constexpr std::size_t kPartAlignmentBytes = kMessageAlignmentBytes;

/// Both directions between one local rank and one peer.
class Connection {
 public:
  virtual ~Connection() = default;

  /// Takes up to all of `bytes` and says how many. Zero: the channel is full.
  virtual std::size_t trySend(std::span<const std::byte> bytes) = 0;
  /// All of a message has been sent: the next starts aligned.
  virtual void finishSend() = 0;

  /// What has arrived and lies in one piece. Valid until consume.
  virtual std::span<const std::byte> peek() = 0;
  virtual void consume(std::size_t bytes) = 0;
  /// All of a message has been consumed: the next starts aligned.
  virtual void finishReceive() = 0;
};

/// The connections of one local rank of a group.
class Endpoint {
 public:
  virtual ~Endpoint() = default;
  virtual Connection& peer(int rank) = 0;
};

/// How a thread that drives connections sleeps when none of them moves.
class Sleeper {
 public:
  virtual ~Sleeper() = default;

  /// Announces the intention to sleep. A peer that moves anything from now on will wake us; look once more
  /// first.
  virtual void prepare() = 0;
  /// Sleeps until a peer has moved something since prepare(), at most `limit`. May return early.
  virtual void waitForRing(std::chrono::milliseconds limit) = 0;
  /// Instead of waitForRing(), when the second look found something to do.
  virtual void cancel() = 0;
};

}  // namespace popdist::transport
