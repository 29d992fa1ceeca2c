// SPDX-License-Identifier: Apache-2.0
#include "common/sys/forks.h"

#include <pthread.h>

#include <atomic>

namespace pop::sys {

unsigned forksOfThisProcess() {
  static std::atomic<unsigned> forks{0};
  static const int registered = ::pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1); });
  static_cast<void>(registered);
  return forks.load(std::memory_order_relaxed);
}

}  // namespace pop::sys
