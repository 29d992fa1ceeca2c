// SPDX-License-Identifier: Apache-2.0
#include "common/sys/futex.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <ctime>

namespace pop::sys {

void futexWait(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
               std::chrono::milliseconds timeout) {
  timespec limit{};
  limit.tv_sec = timeout.count() / 1000;
  limit.tv_nsec = timeout.count() % 1000 * 1'000'000;
  ::syscall(SYS_futex, &word, FUTEX_WAIT, expected, &limit, nullptr, 0);
}

void futexWakeAll(std::atomic<std::uint32_t>& word) {
  ::syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace pop::sys
