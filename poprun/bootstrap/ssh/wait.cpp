// SPDX-License-Identifier: Apache-2.0
#include "poprun/bootstrap/ssh/wait.h"

#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "common/base/check.h"
#include "common/base/text.h"

namespace pop {
namespace {

// The longest single wait, as AwakeClock requires.
constexpr std::chrono::milliseconds kBetweenLooks{500};

}  // namespace

Cancellation::Cancellation() : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  POP_CHECK(event_.valid());
}

void Cancellation::cancel() {
  POP_CHECK(::eventfd_write(event_.get(), 1) == 0);
}

bool Cancellation::cancelled() const {
  pollfd event{event_.get(), POLLIN, 0};
  return ::poll(&event, 1, 0) > 0;
}

Status Wait::forEvents(int fd, short events) const {
  for (;;) {
    const auto look_ms =
        std::min(std::chrono::ceil<std::chrono::milliseconds>(left()), kBetweenLooks).count();
    std::array<pollfd, 2> fds{pollfd{fd, events, 0}, pollfd{cancellation_.fd(), POLLIN, 0}};
    const int count = ::poll(fds.data(), fds.size(), static_cast<int>(std::max<long>(look_ms, 0)));
    if (count < 0 && errno != EINTR) return errnoStatus("poll", errno);
    if (fds[1].revents != 0) return {Code::kCancelled, "it was given up"};
    if (fds[0].revents != 0) return {};
    if (left() <= Clock::duration::zero()) {
      return {Code::kDeadlineExceeded, "no answer within " + secondsText(limit_) + " s"};
    }
  }
}

Status Wait::pause(std::chrono::milliseconds duration) const {
  const Wait shorter(cancellation_, std::min(duration, std::chrono::ceil<std::chrono::milliseconds>(left())));
  Status status = shorter.forEvents(-1, 0);
  return status.code() == Code::kDeadlineExceeded ? Status() : status;
}

bool Slots::acquire() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return cancelled_ || free_ > 0; });
  if (cancelled_) return false;
  --free_;
  return true;
}

void Slots::release() {
  const std::scoped_lock lock(mutex_);
  ++free_;
  changed_.notify_one();
}

void Slots::cancel() {
  const std::scoped_lock lock(mutex_);
  cancelled_ = true;
  changed_.notify_all();
}

}  // namespace pop
