// SPDX-License-Identifier: Apache-2.0
#include "poprun/ui/stream_writer.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <utility>

#include "common/sys/reopen.h"

namespace pop {
namespace {

// Queued data is in memory that is freed after large amounts.
constexpr std::size_t kKeptBytes = 512 << 10;

// A larger pipe saves poprun and its reader many context switches. It is enlarged only once data is queued:
// that costs as much as starting a thread, and most jobs write little.
constexpr int kPipeBytes = 256 << 10;

void enlargePipe(int fd) {
  if (S_ISFIFO(sys::modeOf(fd)) && ::fcntl(fd, F_GETPIPE_SZ) < kPipeBytes) {
    ::fcntl(fd, F_SETPIPE_SZ, kPipeBytes);
  }
}

}  // namespace

StreamWriter::StreamWriter(os::EpollLoop& loop, int fd, Events events)
    : loop_(loop),
      original_(fd),
      own_(sys::reopenNonBlocking(fd, O_WRONLY)),
      readiness_(own_.valid() ? sys::Fd() : sys::readinessOf(fd, EPOLLOUT)),
      is_socket_(S_ISSOCK(sys::modeOf(fd))),
      is_file_(S_ISREG(sys::modeOf(fd))),
      may_block_(!own_.valid() && !is_socket_ && !is_file_),
      events_(std::move(events)) {}

StreamWriter::~StreamWriter() {
  unwatch();
}

void StreamWriter::write(std::string_view text) {
  waiting() += text;
  send();
}

std::string& StreamWriter::waiting() {
  // Only when more was written than is left; otherwise queued data would be moved again and again.
  if (written_ > waitingBytes()) {
    waiting_.erase(0, written_);
    written_ = 0;
  }
  return waiting_;
}

void StreamWriter::send() {
  if (failed_) waiting_.clear();
  if (waitingBytes() > 0 && !watching_) push();
}

// A pipe that is ready has room for at least PIPE_BUF bytes. For a terminal this is likely, but not certain.
ssize_t StreamWriter::writeSome(std::string_view text) const {
  if (may_block_) {
    pollfd writable{original_, POLLOUT, 0};
    if (::poll(&writable, 1, 0) == 0) {
      errno = EAGAIN;
      return -1;
    }
    text = text.substr(0, PIPE_BUF);
  }
  while (true) {
    const ssize_t written = is_socket_
                                ? ::send(original_, text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL)
                                : ::write(descriptor(), text.data(), text.size());
    if (written >= 0 || errno != EINTR) return written;
  }
}

void StreamWriter::push() {
  // A regular file takes everything at once, or fails; the loop could not watch it.
  do {
    const ssize_t written = writeSome(std::string_view(waiting_).substr(written_));
    if (written < 0 && errno != EAGAIN) return fail(errno);
    if (written < 0) break;
    written_ += static_cast<std::size_t>(written);
  } while ((is_file_ || may_block_) && waitingBytes() > 0);
  if (waitingBytes() > 0) return watch();
  waiting_.clear();
  written_ = 0;
  if (waiting_.capacity() > kKeptBytes) waiting_.shrink_to_fit();
  if (!watching_) return;
  unwatch();
  events_.drained();
}

void StreamWriter::watch() {
  if (watching_) return;
  watching_ = true;
  enlargePipe(original_);
  if (own_.valid()) {
    loop_.watchWritable(own_.get(), [this] { push(); });
  } else {
    loop_.watchReadable(readiness_.get(), [this] { push(); });
  }
}

void StreamWriter::unwatch() {
  if (watching_) loop_.unwatch(own_.valid() ? own_.get() : readiness_.get());
  watching_ = false;
}

void StreamWriter::flush(const std::vector<StreamWriter*>& writers) {
  while (true) {
    std::vector<StreamWriter*> behind;
    std::vector<pollfd> writable;
    for (StreamWriter* writer : writers) {
      if (writer->failed_ || writer->waitingBytes() == 0) continue;
      behind.push_back(writer);
      writable.push_back({writer->descriptor(), POLLOUT, 0});
    }
    if (behind.empty()) return;
    if (::poll(writable.data(), writable.size(), -1) < 0 && errno != EINTR) return;
    for (std::size_t i = 0; i < behind.size(); ++i) {
      if (writable[i].revents != 0) behind[i]->push();
    }
  }
}

void StreamWriter::lastWords(std::string_view text) const {
  while (!text.empty()) {
    const ssize_t written = writeSome(text);
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void StreamWriter::abandon() {
  unwatch();
  failed_ = true;
  waiting_.clear();
  written_ = 0;
}

// If the reader of a socket has gone before reading everything, the error is a reset.
void StreamWriter::fail(int error) {
  abandon();
  events_.failed(is_socket_ && error == ECONNRESET ? EPIPE : error);
}

}  // namespace pop
