// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>
#include <ctime>

namespace pop::sys {

/// While it lives, a failing write(2) of this thread raises no signal that would end the process. SIGXFSZ:
/// beyond the limit of file sizes (ulimit -f) it fails with EFBIG, as one to a full disk does. SIGPIPE: to a
/// peer that is gone it fails with EPIPE; for libraries that write themselves, others say MSG_NOSIGNAL.
class NoWriteSignal {
 public:
  explicit NoWriteSignal(int signal) : signal_(signal) {
    ::sigemptyset(&set_);
    ::sigaddset(&set_, signal_);
    ::pthread_sigmask(SIG_BLOCK, &set_, &before_);
  }
  ~NoWriteSignal() {
    const timespec at_once{};
    if (::sigismember(&before_, signal_) == 0) ::sigtimedwait(&set_, nullptr, &at_once);
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoWriteSignal(const NoWriteSignal&) = delete;
  NoWriteSignal& operator=(const NoWriteSignal&) = delete;

 private:
  int signal_;
  sigset_t set_{};
  sigset_t before_{};
};

}  // namespace pop::sys
