// SPDX-License-Identifier: Apache-2.0
#include "agent/rendezvous/answered_socket.h"

#include <sys/socket.h>

#include <cerrno>
#include <string_view>
#include <utility>

namespace pop::agent {

AnsweredSocket::AnsweredSocket(os::EpollLoop& loop, sys::Fd socket, Events events)
    : loop_(loop), socket_(std::move(socket)), events_(std::move(events)) {
  loop_.watchReadable(fd(), events_.readable);
}

AnsweredSocket::~AnsweredSocket() {
  loop_.unwatch(fd());
}

void AnsweredSocket::send(std::string bytes) {
  const bool waits = hasUntaken();
  untaken_.append(std::move(bytes));
  if (waits) return;
  flush();
  if (!hasUntaken()) return;
  loop_.watchWritable(fd(), [this] { resume(); });
  loop_.unwatchReadable(fd());
}

void AnsweredSocket::flush() {
  while (hasUntaken()) {
    const std::string_view next = untaken_.front();
    const ssize_t sent = ::send(fd(), next.data(), next.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent >= 0)
      untaken_.take(static_cast<std::size_t>(sent));
    else if (errno == EAGAIN)
      return;
    else if (errno != EINTR)
      untaken_.clear();
  }
}

// The instance is reading again, or is gone.
void AnsweredSocket::resume() {
  flush();
  if (hasUntaken()) return;
  loop_.watchReadable(fd(), events_.readable);
  loop_.unwatchWritable(fd());
  const std::function<void()> resumed = events_.resumed;  // this object may end in it
  resumed();
}

}  // namespace pop::agent
