// SPDX-License-Identifier: Apache-2.0
// The executor's interface to a transport: byte channels between ranks, polled, never blocking.
//
// A channel carries messages whose lengths both sides know. Memory that was received can be read in place, so
// that a reduction needs no copy of its own. The order of messages between two ranks is the order in which
// they were sent.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include "common/base/status.h"

namespace popdist::transport {

/// Through memory, messages start at multiples of this in a channel and are cut (trySend, peek) only at
/// multiples of kPartAlignmentBytes: no element, and no head, ever lies across a cut. Bytes from a
/// network may end anywhere; then peek() has all of an element or a head when more has been fetched.
inline constexpr std::size_t kMessageAlignmentBytes = 64;
inline constexpr std::size_t kPartAlignmentBytes = kMessageAlignmentBytes;

/// A message begins with a head of one aligned block. The last kSealBytes of it are the transport's.
inline constexpr std::size_t kHeadBytes = kMessageAlignmentBytes;
inline constexpr std::size_t kSealBytes = 16;
/// No abort message (Connection::abandon) is longer, its head included.
inline constexpr std::size_t kMaxAbortMessageBytes = kHeadBytes + 1024;
using Head = std::span<std::byte, kHeadBytes>;
using ConstHead = std::span<const std::byte, kHeadBytes>;

/// Both directions between a local rank and a peer. The defaults suit memory that both sides share: data need
/// not be fetched, and no third party can have written it.
class Connection {
 public:
  virtual ~Connection() = default;

  /// True if something may have arrived. Accepts the peer that is connecting, but does not connect.
  virtual bool isUp() { return true; }

  /// Prepares a head for sending; it must be the next one sent. False: the connection is not up yet.
  virtual bool seal(Head) { return true; }
  /// Sends up to all of `bytes` and returns how many. 0: the channel is full.
  virtual std::size_t trySend(std::span<const std::byte> bytes) = 0;
  /// The same for two ranges, one after the other.
  virtual std::size_t trySendBoth(std::span<const std::byte> first, std::span<const std::byte> second) {
    const std::size_t sent = trySend(first);
    return sent < first.size() ? sent : sent + trySend(second);
  }
  /// All of a message has been sent: the next starts aligned.
  virtual void finishSend() = 0;

  /// Brings what has arrived to where peek() finds it: something of the next `most` bytes, and no more.
  virtual void fetch(std::size_t /*most*/) {}
  /// The data that has arrived and lies in one piece. Valid until consume.
  virtual std::span<const std::byte> peek() = 0;
  virtual void consume(std::size_t bytes) = 0;
  /// Moves what has arrived straight to `into`: up to all of it, cut anywhere. Returns how much.
  virtual std::size_t tryReceive(std::span<std::byte> into) {
    const std::span<const std::byte> ready = peek();
    const std::size_t part = std::min(ready.size(), into.size());
    if (part == 0) return 0;
    std::memcpy(into.data(), ready.data(), part);
    consume(part);
    return part;
  }
  /// True if a received head is the one that the peer has sealed. Once for each.
  virtual bool isGenuine(ConstHead) { return true; }
  /// All of a message has been consumed: the next starts aligned.
  virtual void finishReceive() = 0;

  /// Sends a head alone, if that can be done at once and no message is half sent. `dials`: to a peer that is
  /// not connected yet, too. False: it has not been sent.
  virtual bool tryTell(Head /*head*/, bool /*dials*/) { return false; }

  /// Closes the connection. The abort message, with its head at most kMaxAbortMessageBytes, is sent if that
  /// can be done at once and no other message is half sent. After what has been sent the peer finds that the
  /// connection has failed.
  virtual void abandon(std::span<const std::byte> /*abort_message*/) {}
  /// The abort message of a peer that has closed the connection, if it arrives separately from the other
  /// messages.
  virtual std::span<const std::byte> abortMessage() { return {}; }

  /// The reason that nothing can be sent or received any more; ok: it can. kResourceExhausted may pass.
  virtual pop::Status failure() const { return {}; }
  /// True if data from the peer may still arrive though its process has ended. If so, failure() tells when
  /// nothing more comes.
  virtual bool mayStillDeliver() { return false; }
};

/// The connections of one local rank of a group.
class Endpoint {
 public:
  virtual ~Endpoint() = default;
  /// The connection to another rank.
  virtual Connection& peer(int rank) = 0;
  /// Appends the peers that would not get everything sent to them if this process ended now. A call is not
  /// over while there are any.
  virtual void appendUndelivered(std::vector<int>& /*ranks*/) {}
};

/// Sleep of a thread that drives connections, for when none of them moves.
class Sleeper {
 public:
  virtual ~Sleeper() = default;

  /// The number of checks of all connections that take about 20 us together.
  virtual int spins() const = 0;
  /// Announces that this thread is about to sleep. A peer that moves anything from now on will wake it; check
  /// once more before sleeping.
  virtual void prepare() = 0;
  /// Sleeps until a peer has moved something since prepare(), at most `limit`. May return early.
  virtual void waitForRing(std::chrono::milliseconds limit) = 0;
  /// Replaces waitForRing() when the second check found something to do.
  virtual void cancel() = 0;
};

}  // namespace popdist::transport
