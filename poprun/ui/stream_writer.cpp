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

// Setting O_NONBLOCK on an inherited descriptor would set it for everybody who shares it, our parent's shell
// included. Pipes and terminals can be opened anew; sockets have MSG_DONTWAIT; regular files never block.
sys::Fd openAnew(int fd) {
  struct stat info {};
  if (::fstat(fd, &info) != 0 || !(S_ISFIFO(info.st_mode) || S_ISCHR(info.st_mode))) return {};
  const std::string path = "/proc/self/fd/" + std::to_string(fd);
  return sys::Fd(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
}

bool isSocket(int fd) {
  struct stat info {};
  return ::fstat(fd, &info) == 0 && S_ISSOCK(info.st_mode);
}

}  // namespace

StreamWriter::StreamWriter(os::AsioLoop& loop, int fd, Events events)
    : loop_(loop),
      original_(fd),
      original_flags_(::fcntl(fd, F_GETFL)),
      own_(openAnew(fd)),
      is_socket_(isSocket(fd)),
      events_(std::move(events)) {}

StreamWriter::~StreamWriter() {
  if (watching_) loop_.unwatch(own_.valid() ? own_.get() : original_);
  if (original_flags_ >= 0) ::fcntl(original_, F_SETFL, original_flags_);
}

void StreamWriter::write(std::string_view text) {
  if (failed_) return;
  if (waitingBytes() == 0) {
    waiting_.clear();
    written_ = 0;
    const ssize_t written = writeSome(text);
    if (written < 0 && errno != EAGAIN) return fail(errno);
    text.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(written, 0)));
    if (text.empty()) return;
  }
  waiting_ += text;
  if (watching_) return;
  watching_ = true;
  loop_.watchWritable(own_.valid() ? own_.get() : original_, [this] { push(); });
}

ssize_t StreamWriter::writeSome(std::string_view text) {
  while (true) {
    const ssize_t written = is_socket_
                                ? ::send(original_, text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL)
                                : ::write(own_.valid() ? own_.get() : original_, text.data(), text.size());
    if (written >= 0 || errno != EINTR) return written;
  }
}

void StreamWriter::push() {
  const ssize_t written = writeSome(std::string_view(waiting_).substr(written_));
  if (written < 0 && errno == EAGAIN) return;
  if (written < 0) return fail(errno);
  written_ += static_cast<std::size_t>(written);
  if (waitingBytes() > 0) return;
  loop_.unwatch(own_.valid() ? own_.get() : original_);
  watching_ = false;
  events_.drained();
}

void StreamWriter::flush() {
  while (!failed_ && waitingBytes() > 0) {
    pollfd writable{own_.valid() ? own_.get() : original_, POLLOUT, 0};
    if (::poll(&writable, 1, -1) < 0 && errno != EINTR) return;
    push();
  }
}

void StreamWriter::abandon() {
  if (watching_) loop_.unwatch(own_.valid() ? own_.get() : original_);
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
