// SPDX-License-Identifier: Apache-2.0
// A tracer that never looks at the process that it traces: when that ends, its parent cannot reap it.
#pragma once

#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>

namespace pop::testing {

class Tracer {
 public:
  explicit Tracer(pid_t traced) {
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0) return;
    pid_ = ::fork();
    if (pid_ == 0) {
      const char holds = ::ptrace(PTRACE_SEIZE, traced, 0, 0) == 0 ? 1 : 0;
      static_cast<void>(!::write(ends[1], &holds, 1));
      ::close_range(3, ~0U, 0);  // pipes that the test closes have no other holder
      while (true) ::pause();
    }
    char holds = 0;
    holds_ = ::read(ends[0], &holds, 1) == 1 && holds == 1;
    ::close(ends[0]);
    ::close(ends[1]);
  }
  ~Tracer() { letGo(); }
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;

  /// Not everywhere may a process be traced.
  bool holds() const { return holds_; }

  void letGo() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

 private:
  pid_t pid_ = -1;
  bool holds_ = false;
};

}  // namespace pop::testing
