// SPDX-License-Identifier: Apache-2.0
#include "common/sys/reopen.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/stat.h>

#include <string>

namespace pop::sys {

mode_t modeOf(int fd) {
  struct stat info {};
  return ::fstat(fd, &info) == 0 ? info.st_mode : 0;
}

Fd reopenNonBlocking(int fd, int access) {
  if (!S_ISFIFO(modeOf(fd)) && !S_ISCHR(modeOf(fd))) return {};
  const std::string path = "/proc/self/fd/" + std::to_string(fd);
  return Fd(::open(path.c_str(), access | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
}

Fd readinessOf(int fd, std::uint32_t events) {
  Fd readiness(::epoll_create1(EPOLL_CLOEXEC));
  epoll_event interest{};
  interest.events = events;
  if (::epoll_ctl(readiness.get(), EPOLL_CTL_ADD, fd, &interest) != 0) readiness.reset();
  return readiness;
}

bool sameFile(int one, int other) {
  struct stat a {};
  struct stat b {};
  return ::fstat(one, &a) == 0 && ::fstat(other, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

}  // namespace pop::sys
