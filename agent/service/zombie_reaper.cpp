// SPDX-License-Identifier: Apache-2.0
#include "agent/service/zombie_reaper.h"

#include <sys/wait.h>

#include <algorithm>

namespace pop::agent {
namespace {

// Most processes end within milliseconds; the others may last as long as their tracers.
constexpr std::chrono::milliseconds kFirstDelay{10};
constexpr std::chrono::milliseconds kLastDelay{5000};

}  // namespace

ZombieReaper::~ZombieReaper() {
  reap();
  if (timer_) loop_.cancel(*timer_);
}

void ZombieReaper::add(pid_t pid) {
  pids_.push_back(pid);
  lookLater(kFirstDelay);
}

// A pid stays in use until its process is reaped.
void ZombieReaper::reap() {
  std::erase_if(pids_, [](pid_t pid) { return ::waitpid(pid, nullptr, WNOHANG) != 0; });
}

void ZombieReaper::lookLater(std::chrono::milliseconds delay) {
  if (timer_) loop_.cancel(*timer_);
  delay_ = delay;
  timer_ = loop_.postAfter(delay, [this] {
    timer_.reset();
    reap();
    if (!pids_.empty()) lookLater(std::min(delay_ * 2, kLastDelay));
  });
}

}  // namespace pop::agent
