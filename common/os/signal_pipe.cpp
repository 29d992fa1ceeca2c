// SPDX-License-Identifier: Apache-2.0
#include "common/os/signal_pipe.h"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <type_traits>
#include <utility>

#include "common/base/check.h"

namespace pop::os {
namespace {

static_assert(std::is_trivially_copyable_v<Signal> && sizeof(Signal) <= PIPE_BUF);

// State that the signal handler can reach.
std::atomic<int> the_write_end{-1};

// A full pipe holds thousands of unread signals: dropping one more loses nothing. Records are written
// completely or not at all.
void note(int number) {
  const int error = errno;
  const Signal signal{number, Clock::now()};
  [[maybe_unused]] const ssize_t written = ::write(the_write_end.load(), &signal, sizeof signal);
  errno = error;
}

void setAction(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  POP_CHECK(::sigaction(signal, &action, nullptr) == 0);
}

}  // namespace

SignalPipe::SignalPipe(std::vector<int> signals) : signals_(std::move(signals)) {
  Result<sys::Pipe> pipe = sys::makePipe();
  POP_CHECK(pipe.ok());
  pipe_ = std::move(*pipe);
  POP_CHECK(sys::setNonBlocking(pipe_.read_end.get()).ok() &&
            sys::setNonBlocking(pipe_.write_end.get()).ok());
  POP_CHECK(the_write_end.exchange(pipe_.write_end.get()) == -1);
  for (const int signal : signals_) setAction(signal, note);
}

SignalPipe::~SignalPipe() {
  for (const int signal : signals_) setAction(signal, SIG_DFL);
  the_write_end = -1;
}

std::optional<Signal> SignalPipe::take() {
  Signal signal;
  if (::read(pipe_.read_end.get(), &signal, sizeof signal) != sizeof signal) return std::nullopt;
  return signal;
}

}  // namespace pop::os
