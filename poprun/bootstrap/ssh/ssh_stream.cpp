// SPDX-License-Identifier: Apache-2.0
#include "poprun/bootstrap/ssh/ssh_stream.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <utility>

namespace pop {
namespace {

constexpr std::size_t kBufferBytes = 256 << 10;
constexpr std::size_t kChunkBytes = 64 << 10;

}  // namespace

SshStream::SshStream(std::unique_ptr<SshSession> session, sys::Fd socket, CommandEvents events)
    : session_(std::move(session)),
      socket_(std::move(socket)),
      events_(std::move(events)),
      lines_(events_.said) {}

SshStream::~SshStream() {
  lines_.end();
  const int exit_code = session_->exitCode();
  events_.ended(exit_code < 0 && connected_ && session_->ended() ? kKilledBySignal : exit_code);
}

void SshStream::prepare(std::vector<pollfd>& fds) {
  const short network = static_cast<short>(session_->hasUnsent() ? POLLIN | POLLOUT : POLLIN);
  fds.push_back({connected_ ? session_->fd() : -1, network, 0});
  int wanted = 0;
  if (!socket_ended_ && to_network_.size() < kBufferBytes) wanted |= POLLIN;
  if (!to_socket_.empty()) wanted |= POLLOUT;
  // A hang-up is reported whether wanted or not, again and again: once is enough.
  fds.push_back({wanted != 0 || !hung_up_ ? socket_.get() : -1, static_cast<short>(wanted), 0});
}

bool SshStream::step(const pollfd* fds) {
  if (fds[0].revents != 0) connected_ = session_->receive();
  if ((fds[1].revents & (POLLHUP | POLLERR)) != 0) hung_up_ = true;
  if (fds[1].revents != 0) fromSocket();
  // If there are only bytes to send, as when a fence opens, they are sent before libssh is polled.
  const bool sends_only = fds[0].revents == 0 && fds[1].revents == POLLIN && to_socket_.empty();
  if (sends_only && !toNetwork() && !noticesLoss()) return !output_ended_;
  // Any call of libssh may read packets from the socket, or find that the connection is over; no poll event
  // reports either.
  do {
    toSocket();
    while (fromNetwork() && toSocket()) continue;
  } while (toNetwork() || noticesLoss());
  // When the socket's other end is closed, the command gets end of input and ends by itself: closing the
  // connection earlier would lose data that sshd has not yet delivered to it.
  return !output_ended_ || !to_socket_.empty();
}

// True: libssh has closed its socket since the last check.
bool SshStream::noticesLoss() {
  if (!connected_ || session_->isConnected()) return false;
  connected_ = false;
  return true;
}

// True: there is data to forward, or the buffer is full.
bool SshStream::fromNetwork() {
  std::array<char, kChunkBytes> buffer;
  const int size = static_cast<int>(buffer.size());
  for (int got = 0; (got = session_->read(buffer.data(), size, true)) > 0;) {
    lines_.take({buffer.data(), static_cast<std::size_t>(got)});
  }
  if (to_socket_.size() >= kBufferBytes) return true;
  const int got = session_->read(buffer.data(), size, false);
  noticesLoss();
  if (got == 0) output_ended_ = !connected_ || session_->ended();
  if (!hung_up_) to_socket_.append(buffer.data(), static_cast<std::size_t>(got));
  return got > 0;
}

// True: everything was sent.
bool SshStream::toSocket() {
  while (!to_socket_.empty()) {
    const ssize_t sent = ::send(socket_.get(), to_socket_.data(), to_socket_.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) return false;
    if (sent < 0) {
      hung_up_ = true;
      to_socket_.clear();
      return true;
    }
    to_socket_.erase(0, static_cast<std::size_t>(sent));
  }
  return true;
}

void SshStream::fromSocket() {
  std::array<char, kChunkBytes> buffer;
  while (!socket_ended_ && to_network_.size() < kBufferBytes) {
    const ssize_t got = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
    if (got > 0) {
      to_network_.append(buffer.data(), static_cast<std::size_t>(got));
      if (static_cast<std::size_t>(got) < buffer.size()) return;  // if there is more by now, an event tells
      continue;
    }
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    socket_ended_ = true;
  }
}

// True: something was sent.
bool SshStream::toNetwork() {
  std::size_t gone = 0;
  while (gone < to_network_.size()) {
    const int sent = session_->write(std::string_view(to_network_).substr(gone));
    if (sent == 0) break;
    gone += static_cast<std::size_t>(sent);
  }
  to_network_.erase(0, gone);
  if (socket_ended_ && to_network_.empty() && !end_sent_) {
    session_->sendEnd();
    end_sent_ = true;
    return true;
  }
  return gone != 0;
}

}  // namespace pop
