// SPDX-License-Identifier: Apache-2.0
// Blocks signals during work that no handler may interrupt, or that a child must start with.
#pragma once

#include <csignal>

namespace pop::sys {

/// Blocks signals in this thread during its lifetime: all except those that the thread's own instructions
/// raise, for which the program may have handlers. Threads and processes started meanwhile keep them blocked
/// until they change that.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    sigfillset(&all);
    for (const int raised : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS}) sigdelset(&all, raised);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~BlockedSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace pop::sys
