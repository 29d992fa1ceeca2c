// SPDX-License-Identifier: Apache-2.0
// Frames over a stream whose two ends have proved that they belong to the job. Each carries a tag under the
// key of its direction, which depends on how many came before: whoever can change bytes on the way can make
// no frame, and leave none out. Nothing here waits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/contract/frame.h"
#include "libpopdist/collectives/messages/transport/tcp/tcp_stream.h"

namespace popdist::transport {

class SealedFrames {
 public:
  enum class Side { kDialler, kAcceptor };
  SealedFrames(AcceptedStream stream, Side side);

  /// Sends as much as goes; flush() sends the rest. After a failure the rest is dropped.
  void send(pop::contract::Frame frame);
  void flush(SocketSleeper& sleeper);
  bool hasUnsent() const { return sent_ < out_.size(); }

  /// The next genuine frame that has come, if there is one.
  std::optional<pop::contract::Frame> next(SocketSleeper& sleeper);
  /// The other end has closed the stream, or has sent what is no genuine frame; next() returns nothing more.
  bool isGone() const { return gone_; }

 private:
  struct Direction {
    Key key{};
    std::uint64_t frames = 0;
  };

  static std::string tagOf(Direction& direction, const pop::contract::Frame& frame);
  std::optional<pop::contract::Frame> nextRead();
  bool receive(SocketSleeper& sleeper);

  pop::sys::Fd socket_;
  Direction outgoing_;
  Direction incoming_;
  pop::contract::FrameReader reader_;
  std::string out_;
  std::size_t sent_ = 0;
  bool gone_ = false;
};

}  // namespace popdist::transport
