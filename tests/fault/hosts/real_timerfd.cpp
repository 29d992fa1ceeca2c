// SPDX-License-Identifier: Apache-2.0
// Loaded before libfaketime: that one shifts the absolute times of every timerfd, those of the monotonic
// clock as well, of which no two hosts agree anyway. With this, only the wall clock is another.
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

extern "C" [[gnu::visibility("default")]] int timerfd_settime(int fd, int flags, const itimerspec* value,
                                                              itimerspec* old) noexcept {
  return static_cast<int>(::syscall(SYS_timerfd_settime, fd, flags, value, old));
}
