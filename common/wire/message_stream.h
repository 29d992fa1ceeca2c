// SPDX-License-Identifier: Apache-2.0
// Protobuf messages over a byte stream that carries nothing else: an SSH channel, a pair of pipes, a socket.
// A message is one frame or, when it is long, several; the last frame of a stream says how it ends.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>

#include "common/base/byte_queue.h"
#include "common/base/status.h"
#include "common/contract/frame.h"
#include "common/os/epoll_loop.h"
#include "common/sys/fd.h"
#include "common/wire/stream_cipher.h"

namespace google::protobuf {
class MessageLite;
}

namespace pop::wire {

/// Of a message from who is not trusted with more of our memory: a launcher's agents, which others may have
/// made say anything, and a service's clients.
inline constexpr std::size_t kMostMessageBytes = 64 << 20;

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
  /// ignores SIGPIPE. `cipher`: none where the stream is safe by itself.
  MessageStream(os::EpollLoop& loop, sys::Fd in, sys::Fd out, Events events,
                std::unique_ptr<StreamCipher> cipher = nullptr);
  ~MessageStream();
  MessageStream(const MessageStream&) = delete;
  MessageStream& operator=(const MessageStream&) = delete;

  /// Of all that is sent in one turn of the loop, the first is written at once and the others together at
  /// its end, as far as the stream takes them, else as soon as it does. After end(): ignored.
  void send(const google::protobuf::MessageLite& message);
  void send(std::string_view message);  ///< its bytes

  /// From now on the first goes with the others. For who speaks to one peer: its turns are short, and each
  /// write costs both sides a system call and wakes the other one. Who speaks to many has long turns, in
  /// which the peers could be at work already.
  void gather() { gathers_ = true; }

  /// A longer message of the other side ends the stream. Without this there is no limit.
  void setMostBytes(std::size_t bytes);

  /// A message with which more than this would wait for the other side to read, beside what waits already, is
  /// lost, as all that is sent more, and the stream ends with kResourceExhausted; end() still says so. What
  /// the cipher answers counts as well. Without this there is no limit.
  void setMostUnsent(std::size_t bytes) { most_unsent_ = bytes; }

  /// The stream was closed under us, without a last word of the other side.
  bool wasClosed() const { return was_closed_; }

  /// A whole frame of the other side has come: it speaks as we do.
  bool wasSpokenTo() const { return spoken_to_; }

  /// The last that is sent. Messages of the other side still come.
  void end(const Status& how);

  /// After end(), for one socket that serves both directions: whoever only watches the other side of it finds
  /// it closed. What is not written yet is lost.
  void hangUp();

  /// All that was sent is written, or nobody takes it.
  bool flushed() const { return plain_.empty() && unsent_.empty(); }
  /// Waits until it is, for at most `timeout`. The loop need not run.
  void flush(std::chrono::milliseconds timeout);

 private:
  void read();
  Status arrive(std::string_view bytes);
  void take(std::string_view bytes);
  void closed(int error_number);
  void finish(Status how);
  void sendFrame(const contract::Frame& frame);
  void encrypt();
  bool isFull(std::size_t more);
  bool hasRoom(std::size_t more) const;
  Status tooMuchUnsent() const;
  void writeByTurns();
  void write();
  int outFd() const { return out_.valid() ? out_.get() : in_.get(); }

  os::EpollLoop& loop_;
  sys::Fd in_;
  sys::Fd out_;
  const bool to_socket_;  ///< which takes care of SIGPIPE
  Events events_;
  const std::unique_ptr<StreamCipher> cipher_;
  contract::FrameReader reader_;
  std::size_t most_bytes_ = std::numeric_limits<std::size_t>::max();
  std::string message_;  ///< the parts that have come
  std::size_t most_unsent_ = std::numeric_limits<std::size_t>::max();
  std::string plain_;  ///< for the cipher, all at once
  ByteQueue unsent_;   ///< as it is written
  bool full_ = false;  ///< there was no room for a message
  bool watching_writable_ = false;
  bool gathers_ = false;
  bool turn_ = false;  ///< something was sent in this turn of the loop; the rest waits for its end
  const std::shared_ptr<MessageStream*> self_ = std::make_shared<MessageStream*>(this);  ///< null: gone
  bool reading_ = true;
  bool was_closed_ = false;
  bool spoken_to_ = false;
  bool ended_ = false;   ///< by us
  bool broken_ = false;  ///< nobody reads what we write
};

}  // namespace pop::wire
