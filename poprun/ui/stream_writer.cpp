// SPDX-License-Identifier: Apache-2.0
#include "poprun/ui/stream_writer.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace pop {
namespace {

// Of what has been written, at most this much is kept in front of what waits.
constexpr std::size_t kKeptBytes = 64 << 10;

mode_t modeOf(int fd) {
  struct stat info {};
  return ::fstat(fd, &info) == 0 ? info.st_mode : 0;
}

// Setting O_NONBLOCK on an inherited descriptor would set it for everybody who shares it, our parent's shell
// included. Pipes and terminals can be opened anew; sockets have MSG_DONTWAIT; regular files never block.
sys::Fd openAnew(int fd) {
  if (!S_ISFIFO(modeOf(fd)) && !S_ISCHR(modeOf(fd))) return {};
  const std::string path = "/proc/self/fd/" + std::to_string(fd);
  return sys::Fd(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
}

}  // namespace

StreamWriter::StreamWriter(os::AsioLoop& loop, int fd, Events events)
    : loop_(loop),
      original_(fd),
      original_flags_(::fcntl(fd, F_GETFL)),
      own_(openAnew(fd)),
      is_socket_(S_ISSOCK(modeOf(fd))),
      is_file_(S_ISREG(modeOf(fd))),
      events_(std::move(events)) {}

StreamWriter::~StreamWriter() {
  if (watching_) loop_.unwatch(descriptor());
  if (original_flags_ >= 0) ::fcntl(original_, F_SETFL, original_flags_);
}

void StreamWriter::write(std::string_view text) {
  if (failed_) return;
  // A regular file takes everything at once, or fails; the loop could not watch it.
  if (is_file_ || waitingBytes() == 0) {
    do {
      const ssize_t written = writeSome(text);
      if (written < 0 && errno != EAGAIN) return fail(errno);
      text.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(written, 0)));
    } while (is_file_ && !text.empty());
    if (text.empty()) return;
  }
  if (written_ > kKeptBytes) {
    waiting_.erase(0, written_);
    written_ = 0;
  }
  waiting_ += text;
  if (watching_) return;
  watching_ = true;
  loop_.watchWritable(descriptor(), [this] { push(); });
}

ssize_t StreamWriter::writeSome(std::string_view text) {
  while (true) {
    const ssize_t written = is_socket_
                                ? ::send(original_, text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL)
                                : ::write(descriptor(), text.data(), text.size());
    if (written >= 0 || errno != EINTR) return written;
  }
}

void StreamWriter::push() {
  const ssize_t written = writeSome(std::string_view(waiting_).substr(written_));
  if (written < 0 && errno == EAGAIN) return;
  if (written < 0) return fail(errno);
  written_ += static_cast<std::size_t>(written);
  if (waitingBytes() > 0) return;
  waiting_.clear();
  written_ = 0;
  loop_.unwatch(descriptor());
  watching_ = false;
  events_.drained();
}

void StreamWriter::flush() {
  while (!failed_ && waitingBytes() > 0) {
    pollfd writable{descriptor(), POLLOUT, 0};
    if (::poll(&writable, 1, -1) < 0 && errno != EINTR) return;
    push();
  }
}

void StreamWriter::abandon() {
  if (watching_) loop_.unwatch(descriptor());
  watching_ = false;
  failed_ = true;
  waiting_.clear();
  written_ = 0;
}

void StreamWriter::fail(int error) {
  abandon();
  events_.failed(error);
}

}  // namespace pop
