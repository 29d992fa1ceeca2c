// SPDX-License-Identifier: Apache-2.0
// Protobuf messages over a byte stream that carries nothing else: an SSH channel, a pair of pipes, a socket.
// A message is one frame or, when it is long, several; the last frame of a stream says how it ends.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "common/base/status.h"
#include "common/contract/frame.h"
#include "common/os/epoll_loop.h"
#include "common/sys/fd.h"

namespace google::protobuf {
class MessageLite;
}

namespace pop::rpc {

/// The thread of the loop alone.
class MessageStream {
 public:
  struct Events {
    std::function<void(const std::string& message)> message;  ///< its bytes
    /// Once, after the last message: what the other side has ended the stream with, or kUnavailable when it
    /// broke off, or kDataLoss. Nothing is read any more.
    std::function<void(Status how)> ended;
  };

  /// Both non-blocking; `out` is invalid where one socket serves both directions. Who writes to a pipe
  /// ignores SIGPIPE.
  MessageStream(os::EpollLoop& loop, sys::Fd in, sys::Fd out, Events events);
  ~MessageStream();
  MessageStream(const MessageStream&) = delete;
  MessageStream& operator=(const MessageStream&) = delete;

  /// Written at once as far as the stream takes it, else as soon as it does. After end(): ignored.
  void send(const google::protobuf::MessageLite& message);

  /// The last that is sent. Messages of the other side still come.
  void end(const Status& how);

  /// Waits until all that was sent is written, for at most `patience`. The loop need not run.
  void flush(std::chrono::milliseconds patience);

 private:
  void read();
  void take(std::string_view bytes);
  void finish(Status how);
  void sendFrame(const contract::Frame& frame);
  void write();
  int outFd() const { return out_.valid() ? out_.get() : in_.get(); }

  os::EpollLoop& loop_;
  sys::Fd in_;
  sys::Fd out_;
  const bool to_socket_;  ///< which takes care of SIGPIPE
  Events events_;
  contract::FrameReader reader_;
  std::string message_;  ///< the parts that have come
  std::string unsent_;
  bool watching_writable_ = false;
  bool reading_ = true;
  bool ended_ = false;   ///< by us
  bool broken_ = false;  ///< nobody reads what we write
};

}  // namespace pop::rpc
