// SPDX-License-Identifier: Apache-2.0
#include "agent/stdio_link.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <thread>
#include <utility>

#include "common/sys/unix_socket.h"

namespace pop::agent {
namespace {

bool isOneSocket() {
  struct stat in {};
  struct stat out {};
  return ::fstat(STDIN_FILENO, &in) == 0 && ::fstat(STDOUT_FILENO, &out) == 0 && S_ISSOCK(in.st_mode) &&
         in.st_dev == out.st_dev && in.st_ino == out.st_ino;
}

sys::Fd duplicate(int fd) {
  return sys::Fd(::fcntl(fd, F_DUPFD_CLOEXEC, 3));
}

// Until the end of `from`, or until nobody takes it any more.
void copyAll(const sys::Fd& from, const sys::Fd& to) {
  std::array<char, 64 << 10> buffer;
  while (true) {
    const ssize_t got = ::read(from.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0 || !sys::writeAll(to.get(), {buffer.data(), static_cast<std::size_t>(got)}).ok()) break;
  }
  ::shutdown(to.get(), SHUT_WR);
}

// The threads live as long as the streams; the process does not wait for them.
Result<sys::Fd> connectPipes(sys::Fd in, sys::Fd out) {
  POP_ASSIGN_OR_RETURN(auto ends, sys::socketPair());
  std::thread([in = std::move(in), to = duplicate(ends.second.get())] { copyAll(in, to); }).detach();
  std::thread([from = std::move(ends.second), out = std::move(out)] { copyAll(from, out); }).detach();
  return std::move(ends.first);
}

}  // namespace

Result<sys::Fd> takeStdio() {
  sys::Fd in = duplicate(STDIN_FILENO);
  sys::Fd out = duplicate(STDOUT_FILENO);
  const bool one_socket = isOneSocket();
  const sys::Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!in.valid() || !out.valid() || !null.valid()) return errnoStatus("taking stdin and stdout", errno);
  ::dup2(null.get(), STDIN_FILENO);
  ::dup2(null.get(), STDOUT_FILENO);
  Result<sys::Fd> stream =
      one_socket ? Result<sys::Fd>(std::move(in)) : connectPipes(std::move(in), std::move(out));
  if (stream.ok()) POP_RETURN_IF_ERROR(sys::setNonBlocking(stream->get()));
  return stream;
}

}  // namespace pop::agent
