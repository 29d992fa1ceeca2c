// SPDX-License-Identifier: Apache-2.0
// A terminal that a test looks at and types on, without echo and without translation of newlines.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <string>
#include <string_view>

#include "common/base/check.h"
#include "common/sys/fd.h"

namespace pop::testing {

class Terminal {
 public:
  Terminal() : master_(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)) {
    POP_CHECK(::grantpt(master_.get()) == 0 && ::unlockpt(master_.get()) == 0);
    std::array<char, 64> name{};
    POP_CHECK(::ptsname_r(master_.get(), name.data(), name.size()) == 0);
    end_ = sys::Fd(::open(name.data(), O_RDWR | O_NOCTTY | O_CLOEXEC));
    termios mode{};
    POP_CHECK(::tcgetattr(end_.get(), &mode) == 0);
    mode.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    mode.c_oflag &= ~static_cast<tcflag_t>(OPOST);
    POP_CHECK(::tcsetattr(end_.get(), TCSANOW, &mode) == 0);
  }

  /// The program's end.
  int end() const { return end_.get(); }

  void type(std::string_view text) const { POP_CHECK(sys::writeAll(master_.get(), text).ok()); }

  /// All that has been shown so far.
  const std::string& shown() {
    std::array<char, 4096> chunk{};
    while (true) {
      const ssize_t got = ::read(master_.get(), chunk.data(), chunk.size());
      if (got <= 0) return shown_;
      shown_.append(chunk.data(), static_cast<std::size_t>(got));
    }
  }

  /// Bytes typed in whole lines and not read yet.
  std::size_t unread() const {
    int bytes = 0;
    return ::ioctl(end_.get(), FIONREAD, &bytes) == 0 ? static_cast<std::size_t>(bytes) : 0;
  }

 private:
  sys::Fd master_;
  sys::Fd end_;
  std::string shown_;
};

/// A shell with job control on a terminal of its own.
class Shell {
 public:
  explicit Shell(const Terminal& terminal, const std::string& script) : pid_(::fork()) {
    POP_CHECK(pid_ >= 0);
    if (pid_ > 0) return;
    ::setsid();
    for (int fd = 0; fd < 3; ++fd) ::dup2(terminal.end(), fd);
    ::ioctl(0, TIOCSCTTY, 0);
    ::execl("/bin/sh", "sh", "-c", script.c_str(), nullptr);
    ::_exit(98);
  }
  ~Shell() {
    ::kill(-pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Shell(const Shell&) = delete;
  Shell& operator=(const Shell&) = delete;

 private:
  pid_t pid_;
};

}  // namespace pop::testing
