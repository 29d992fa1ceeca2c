// SPDX-License-Identifier: Apache-2.0
#include "common/sys/process_end.h"

#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <climits>

namespace pop::sys {
namespace {

bool hasEnded(pid_t pid) {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == pid;
}

}  // namespace

Fd endOf(pid_t pid) {
  return Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
}

bool endsWithin(pid_t pid, std::chrono::milliseconds timeout) {
  using Clock = std::chrono::steady_clock;
  using std::chrono::milliseconds;
  // Without a descriptor it is looked at every now and then.
  constexpr milliseconds kBetweenLooks{10};
  const Fd process = endOf(pid);
  const auto deadline = Clock::now() + timeout;
  while (!hasEnded(pid)) {
    auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now());
    if (left.count() <= 0) return false;
    if (!process.valid()) left = std::min(left, kBetweenLooks);
    pollfd ended{process.get(), POLLIN, 0};
    const auto poll_ms = std::min<milliseconds::rep>(left.count(), INT_MAX);
    ::poll(&ended, process.valid() ? 1 : 0, static_cast<int>(poll_ms));
  }
  return true;
}

}  // namespace pop::sys
