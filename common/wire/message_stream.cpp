// SPDX-License-Identifier: Apache-2.0
#include "common/wire/message_stream.h"

#include <google/protobuf/message_lite.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "common/base/check.h"
#include "common/base/text.h"

namespace pop::wire {
namespace {

enum FrameType : std::uint8_t { kPart = 1, kLastPart = 2, kEnd = 3 };

// Bytes of a message in a frame, which adds a few bytes.
constexpr std::size_t kPartBytes = 1 << 20;
constexpr std::size_t kMaxWireFrameBytes = kPartBytes + 64;

contract::Frame endFrame(const Status& how) {
  return {kEnd, {std::to_string(static_cast<int>(how.code())), how.message()}};
}

Status statusOf(const contract::Frame& frame) {
  const Status malformed{Code::kDataLoss, "the stream's last frame is malformed"};
  if (frame.fields.size() != 2) return malformed;
  const Result<std::int64_t> code = parseInteger(frame.fields[0]);
  if (!code.ok() || code.value() < 0 || code.value() > static_cast<int>(Code::kDataLoss)) return malformed;
  return {static_cast<Code>(code.value()), frame.fields[1]};
}

bool isSocket(int fd) {
  struct stat file {};
  return ::fstat(fd, &file) == 0 && S_ISSOCK(file.st_mode);
}

}  // namespace

Result<std::string> readMessage(int fd, std::size_t most_bytes) {
  contract::FrameReader reader(std::min(most_bytes, kMaxWireFrameBytes));
  std::array<char, 64 << 10> buffer;
  std::string message;
  while (true) {
    POP_ASSIGN_OR_RETURN(const std::optional<contract::Frame> frame, reader.next());
    if (!frame) {
      const ssize_t got = ::read(fd, buffer.data(), std::min(buffer.size(), reader.missingBytes()));
      pollfd readable{fd, POLLIN, 0};
      if (got < 0 && errno == EAGAIN) ::poll(&readable, 1, -1);
      if (got < 0 && errno != EAGAIN && errno != EINTR) return errnoStatus("reading a message", errno);
      if (got == 0) return unavailable("the connection was closed");
      if (got > 0) reader.append({buffer.data(), static_cast<std::size_t>(got)});
      continue;
    }
    if (frame->type == kEnd) return unavailable("the stream ended without a message");
    if ((frame->type != kPart && frame->type != kLastPart) || frame->fields.size() != 1)
      return Status(Code::kDataLoss, "a frame of an unknown kind");
    message += frame->fields[0];
    if (message.size() > most_bytes) return Status(Code::kResourceExhausted, "a message is too long");
    if (frame->type == kLastPart) return message;
  }
}

MessageStream::MessageStream(os::EpollLoop& loop, sys::Fd in, sys::Fd out, Events events,
                             std::unique_ptr<StreamCipher> cipher)
    : loop_(loop),
      in_(std::move(in)),
      out_(std::move(out)),
      to_socket_(isSocket(outFd())),
      events_(std::move(events)),
      cipher_(std::move(cipher)),
      reader_(kMaxWireFrameBytes) {
  loop_.watchReadable(in_.get(), [this] { read(); });
}

MessageStream::~MessageStream() {
  *self_ = nullptr;
  write();
  loop_.unwatch(in_.get());
  if (out_.valid()) loop_.unwatch(out_.get());
}

// Reads once per event, so that a busy stream does not starve the others. The handler of a message may
// destroy this object, but only from a task of its own.
void MessageStream::read() {
  std::array<char, 64 << 10> buffer;
  const ssize_t got = ::read(in_.get(), buffer.data(), buffer.size());
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) return closed(got < 0 ? errno : 0);
  const Status status = arrive({buffer.data(), static_cast<std::size_t>(got)});
  if (!status.ok() && reading_) finish(status);
}

Status MessageStream::arrive(std::string_view bytes) {
  if (!cipher_) {
    take(bytes);
    return {};
  }
  std::string plain;
  std::string answer;
  Status status = cipher_->receive(bytes, plain, answer);
  const bool has_answered = !answer.empty();
  unsent_.append(std::move(answer));
  write();
  if (status.ok() && has_answered && unsent_.size() > most_unsent_) status = tooMuchUnsent();
  take(plain);
  return status;
}

void MessageStream::take(std::string_view bytes) {
  reader_.append(bytes);
  while (reading_) {
    Result<std::optional<contract::Frame>> next = reader_.next();
    if (!next.ok()) return finish(next.status());
    if (!next->has_value()) return;
    spoken_to_ = true;
    const contract::Frame& frame = **next;
    if (frame.type == kEnd) return finish(statusOf(frame));
    if ((frame.type != kPart && frame.type != kLastPart) || frame.fields.size() != 1)
      return finish({Code::kDataLoss, "a frame of an unknown kind"});
    message_ += frame.fields[0];
    if (message_.size() > most_bytes_) return finish({Code::kResourceExhausted, "a message is too long"});
    if (frame.type == kLastPart) events_.message(std::exchange(message_, {}));
  }
}

void MessageStream::setMostBytes(std::size_t bytes) {
  most_bytes_ = bytes;
  reader_.setMostBytes(std::min(bytes, kMaxWireFrameBytes));
}

void MessageStream::pause() {
  if (!reading_ || std::exchange(paused_, true)) return;
  loop_.unwatchReadable(in_.get());
}

void MessageStream::resume() {
  if (!std::exchange(paused_, false) || !reading_) return;
  loop_.watchReadable(in_.get(), [this] { read(); });
}

void MessageStream::closed(int error_number) {
  was_closed_ = true;
  if (error_number == 0 || error_number == ECONNRESET || error_number == EPIPE)
    return finish(unavailable("the connection was closed"));
  finish(unavailable(errnoStatus("the connection", error_number).message()));
}

void MessageStream::finish(Status how) {
  reading_ = false;
  loop_.unwatchReadable(in_.get());
  events_.ended(std::move(how));
}

void MessageStream::send(const google::protobuf::MessageLite& message) {
  send(message.SerializeAsString());
}

void MessageStream::send(std::string_view message) {
  if (ended_ || isFull(message.size())) return;
  for (std::size_t at = 0; at == 0 || at < message.size(); at += kPartBytes) {
    const bool last = message.size() - at <= kPartBytes;
    sendFrame({last ? kLastPart : kPart, {std::string(message.substr(at, kPartBytes))}});
  }
  writeByTurns();
  waited_ = !flushed();
}

// The end is delivered from the loop, because the sender is inside a call.
bool MessageStream::isFull(std::size_t more) {
  if (full_ || hasRoom(more)) return full_;
  write();
  full_ = !hasRoom(more);
  if (!full_) return false;
  loop_.post([self = self_] {
    if (*self == nullptr || !(*self)->reading_) return;
    (*self)->finish((*self)->tooMuchUnsent());
  });
  return true;
}

// One message is always accepted, of any length.
bool MessageStream::hasRoom(std::size_t more) const {
  return flushed() || plain_.size() + unsent_.size() + more <= most_unsent_;
}

Status MessageStream::tooMuchUnsent() const {
  const std::size_t kib = most_unsent_ >> 10;
  return {Code::kResourceExhausted,
          "more than " + (kib < 1024 ? std::to_string(kib) + " KiB" : std::to_string(kib >> 10) + " MiB") +
              " are waiting to be sent, because the other side does not read"};
}

// Starting or ending many instances produces many messages at once.
void MessageStream::writeByTurns() {
  if (turn_) return;
  if (!gathers_) write();
  turn_ = true;
  loop_.postLast([self = self_] {
    if (*self == nullptr) return;
    (*self)->turn_ = false;
    (*self)->write();
  });
}

void MessageStream::end(const Status& how) {
  if (std::exchange(ended_, true)) return;
  sendFrame(endFrame(how));
  write();
}

void MessageStream::hangUp() {
  POP_CHECK(ended_ && !out_.valid());
  ::shutdown(in_.get(), SHUT_WR);
  write();
}

void MessageStream::sendFrame(const contract::Frame& frame) {
  Result<std::string> bytes = contract::encode(frame);
  POP_CHECK(bytes.ok());
  if (broken_) return;
  if (!cipher_) return unsent_.append(std::move(*bytes));
  plain_ += *bytes;
  if (plain_.size() >= kPartBytes) encrypt();
}

void MessageStream::encrypt() {
  if (plain_.empty()) return;
  std::string wire;
  cipher_->send(std::exchange(plain_, {}), wire);
  unsent_.append(std::move(wire));
}

void MessageStream::write() {
  encrypt();
  while (!unsent_.empty() && !broken_) {
    const std::string_view next = unsent_.front();
    const ssize_t sent = to_socket_ ? ::send(outFd(), next.data(), next.size(), MSG_NOSIGNAL)
                                    : ::write(outFd(), next.data(), next.size());
    if (sent >= 0)
      unsent_.take(static_cast<std::size_t>(sent));
    else if (errno == EAGAIN)
      break;
    else
      broken_ = errno != EINTR;  // that the other side is gone is read, too
  }
  if (broken_) unsent_.clear();
  if (unsent_.empty() && std::exchange(waited_, false)) sayWritten();
  if (unsent_.empty() == !watching_writable_) return;
  watching_writable_ = !watching_writable_;
  if (watching_writable_)
    loop_.watchWritable(outFd(), [this] { write(); });
  else
    loop_.unwatchWritable(outFd());
}

void MessageStream::sayWritten() {
  if (!events_.written) return;
  loop_.post([self = self_] {
    if (*self != nullptr) (*self)->events_.written();
  });
}

void MessageStream::flush(std::chrono::milliseconds timeout) {
  const auto deadline = Clock::now() + timeout;
  write();
  while (!unsent_.empty()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    pollfd writable{outFd(), POLLOUT, 0};
    if (left.count() <= 0 || ::poll(&writable, 1, static_cast<int>(left.count())) == 0) return;
    write();
  }
}

}  // namespace pop::wire
