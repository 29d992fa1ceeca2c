// SPDX-License-Identifier: Apache-2.0
#include "popdistd/leader/byte_relay.h"

#include <sys/socket.h>

#include <cerrno>
#include <utility>

namespace pop::popdistd {
namespace {

constexpr std::size_t kMostBytes = 64 << 10;

bool isForLater(int error) {
  return error == EAGAIN || error == EINTR;
}

}  // namespace

ByteRelay::ByteRelay(os::EpollLoop& loop, int from, int to, Events events, std::string first)
    : loop_(loop), from_(from), to_(to), events_(std::move(events)), unsent_(std::move(first)) {
  unsent_.empty() ? loop_.watchReadable(from_, [this] { read(); })
                  : loop_.watchWritable(to_, [this] { write(); });
}

// A handler of an end may destroy this object.
void ByteRelay::read() {
  std::string bytes(kMostBytes, '\0');
  const ssize_t count = ::recv(from_, bytes.data(), bytes.size(), 0);
  if (count < 0) return isForLater(errno) ? void() : events_.broken();
  if (count == 0) {
    loop_.unwatchReadable(from_);
    ::shutdown(to_, SHUT_WR);
    return events_.done();
  }
  bytes.resize(static_cast<std::size_t>(count));
  unsent_ = std::move(bytes);
  write();
}

void ByteRelay::write() {
  const ssize_t count = ::send(to_, unsent_.data(), unsent_.size(), MSG_NOSIGNAL);
  if (count < 0 && !isForLater(errno)) return events_.broken();
  if (count > 0) unsent_.erase(0, static_cast<std::size_t>(count));
  if (unsent_.empty()) {
    loop_.unwatchWritable(to_);
    loop_.watchReadable(from_, [this] { read(); });
  } else {
    loop_.unwatchReadable(from_);
    loop_.watchWritable(to_, [this] { write(); });
  }
}

}  // namespace pop::popdistd
