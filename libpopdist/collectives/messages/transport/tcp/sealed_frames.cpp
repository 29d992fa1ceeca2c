// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/messages/transport/tcp/sealed_frames.h"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "common/sys/unix_socket.h"

namespace popdist::transport {

using pop::contract::Frame;

SealedFrames::SealedFrames(AcceptedStream stream, Side side) : socket_(std::move(stream.socket)) {
  const bool dialled = side == Side::kDialler;
  outgoing_.key = dialled ? stream.keys.from_dialler : stream.keys.from_acceptor;
  incoming_.key = dialled ? stream.keys.from_acceptor : stream.keys.from_dialler;
}

std::string SealedFrames::tagOf(Direction& direction, const Frame& frame) {
  const std::uint64_t number = direction.frames++;
  std::string bytes(sizeof(number), '\0');
  std::memcpy(bytes.data(), &number, sizeof(number));
  if (pop::Result<std::string> encoded = pop::contract::encode(frame); encoded.ok()) bytes += *encoded;
  const Tag tag = sipHash(direction.key, std::as_bytes(std::span(bytes)));
  return {reinterpret_cast<const char*>(tag.data()), tag.size()};
}

void SealedFrames::send(Frame frame) {
  frame.fields.push_back(tagOf(outgoing_, frame));
  pop::Result<std::string> bytes = pop::contract::encode(frame);
  if (!bytes.ok() || gone_) {
    gone_ = true;
    return;
  }
  out_.erase(0, std::exchange(sent_, 0));
  out_ += *bytes;
  SocketSleeper unused;
  flush(unused);
}

void SealedFrames::flush(SocketSleeper& sleeper) {
  while (hasUnsent()) {
    const ssize_t sent =
        ::send(socket_.get(), out_.data() + sent_, out_.size() - sent_, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) return sleeper.awaiting(socket_.get(), POLLOUT);
    // Bytes that the other end sent before it left can still be read.
    sent_ = sent < 0 ? out_.size() : sent_ + static_cast<std::size_t>(sent);
  }
}

std::optional<Frame> SealedFrames::next(SocketSleeper& sleeper) {
  while (!gone_) {
    if (std::optional<Frame> frame = nextRead()) return frame;
    if (gone_ || !receive(sleeper)) break;
  }
  return std::nullopt;
}

std::optional<Frame> SealedFrames::nextRead() {
  pop::Result<std::optional<Frame>> frame = reader_.next();
  if (frame.ok() && !frame->has_value()) return std::nullopt;
  if (frame.ok() && !(*frame)->fields.empty()) {
    const std::string tag = std::move((*frame)->fields.back());
    (*frame)->fields.pop_back();
    const std::string expected = tagOf(incoming_, **frame);
    if (tag.size() == sizeof(Tag) && sameTag(std::as_bytes(std::span(tag)).first<sizeof(Tag)>(),
                                             std::as_bytes(std::span(expected)).first<sizeof(Tag)>()))
      return std::move(*frame);
  }
  gone_ = true;
  return std::nullopt;
}

// False: nothing more has come.
bool SealedFrames::receive(SocketSleeper& sleeper) {
  pop::Result<pop::sys::Received> received = pop::sys::receiveSome(socket_.get());
  if (received.ok() && received->would_block) {
    sleeper.awaiting(socket_.get(), POLLIN);
    return false;
  }
  gone_ = !received.ok() || received->bytes.empty();
  if (!gone_) reader_.append(received->bytes);
  return !gone_;
}

}  // namespace popdist::transport
