// SPDX-License-Identifier: Apache-2.0
// Protobuf messages over a dedicated byte stream: an SSH channel, a pair of pipes, a socket. A message is one
// frame or, if it is long, several; the last frame of a stream says how it ends.
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
#include "common/base/stream_cipher.h"
#include "common/contract/frame.h"
#include "common/os/epoll_loop.h"
#include "common/sys/fd.h"

namespace google::protobuf {
class MessageLite;
}

namespace pop::wire {

/// Maximum size of a message from an untrusted peer: a launcher's agents, which may be compromised, and a
/// service's clients.
inline constexpr std::size_t kMaxMessageBytes = 64 << 20;

/// Reads one message from `fd`, and not a byte behind it, waiting as long as it takes: for who needs the
/// first one before there is a loop. kUnavailable: the stream ended; kDataLoss: malformed;
/// kResourceExhausted: it is longer than `most_bytes`.
Result<std::string> readMessage(int fd, std::size_t most_bytes = kMaxMessageBytes);

/// Only on the loop's thread.
class MessageStream {
 public:
  struct Events {
    std::function<void(const std::string& message)> message;  ///< its bytes
    /// Called once, after the last message: with the other side's final status, kUnavailable if the stream
    /// broke, or kDataLoss. Nothing more is read.
    std::function<void(Status how)> ended;
    /// The bytes not written at once are written now: unsentBytes() is 0 again. From a task of its own.
    std::function<void()> written = nullptr;
  };

  /// Both are non-blocking; `out` is invalid if one socket serves both directions. Users of a pipe must
  /// ignore SIGPIPE. `cipher`: null if the stream is secure by itself.
  MessageStream(os::EpollLoop& loop, sys::Fd in, sys::Fd out, Events events,
                std::unique_ptr<StreamCipher> cipher = nullptr);
  ~MessageStream();
  MessageStream(const MessageStream&) = delete;
  MessageStream& operator=(const MessageStream&) = delete;

  /// Sends a message. Of the messages sent in one turn of the loop, the first is written at once and the
  /// others together at the turn's end, or as soon as the stream accepts them. After end(): ignored.
  void send(const google::protobuf::MessageLite& message);
  void send(std::string_view message);  ///< its bytes

  /// From now on the first message waits for the others of its turn. For processes with one peer: their turns
  /// are short, and each write costs both sides a system call and a wake-up. With many peers turns are long,
  /// and an early first message lets the peers begin.
  void gather() { gathers_ = true; }

  /// A longer message from the other side ends the stream. The default is no limit.
  void setMostBytes(std::size_t bytes);

  /// Limits the bytes that wait for the other side to read, including the cipher's own answers. A message
  /// that exceeds the limit is dropped, as are all later ones, and the stream ends with kResourceExhausted;
  /// end() still sends that status. The default is no limit.
  void setMostUnsent(std::size_t bytes) { most_unsent_ = bytes; }

  /// The bytes that wait for the other side to read.
  std::size_t unsentBytes() const { return plain_.size() + unsent_.size(); }

  /// Reads no more until resume(), so that the other side has to wait; at most 64 KiB of messages that were
  /// read already still arrive. Nothing is learnt of the stream's end meanwhile.
  void pause();
  void resume();

  /// The stream was closed without a last message from the other side.
  bool wasClosed() const { return was_closed_; }

  /// True after the first complete frame from the other side: it speaks this protocol.
  bool wasSpokenTo() const { return spoken_to_; }

  /// Sends the last message. Messages from the other side still arrive.
  void end(const Status& how);

  /// After end(), for one socket that serves both directions: closes it, for peers that only watch for the
  /// close. Unwritten data is lost.
  void hangUp();

  /// True if everything sent is written, or can no longer be written.
  bool flushed() const { return plain_.empty() && unsent_.empty(); }
  /// Waits for that, for at most `timeout`. The loop need not run.
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
  void sayWritten();
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
  bool waited_ = false;  ///< a message was not written at once
  bool reading_ = true;
  bool paused_ = false;
  bool was_closed_ = false;
  bool spoken_to_ = false;
  bool ended_ = false;   ///< by us
  bool broken_ = false;  ///< the other side no longer reads
};

}  // namespace pop::wire
