// SPDX-License-Identifier: Apache-2.0
#include "common/sys/process_end.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/sys/fd.h"

namespace pop::sys {

bool endsWithin(pid_t pid, std::chrono::milliseconds patience) {
  using Clock = std::chrono::steady_clock;
  const Fd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!process.valid()) return true;
  const auto deadline = Clock::now() + patience;
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    pollfd ended{process.get(), POLLIN, 0};
    if (::poll(&ended, 1, left.count() > 0 ? static_cast<int>(left.count()) : 0) > 0) return true;
    if (left.count() <= 0) return false;
  }
}

}  // namespace pop::sys
