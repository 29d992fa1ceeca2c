// SPDX-License-Identifier: Apache-2.0
#include "popdistd/systemd.h"

#include <systemd/sd-daemon.h>

#include <cstdint>

namespace pop::popdistd {

void notifyReady() {
  ::sd_notify(0, "READY=1");
}

void notifyStopping() {
  ::sd_notify(0, "STOPPING=1");
}

// Twice in the time after which systemd gives the daemon up.
Watchdog::Watchdog(Loop& loop) : loop_(loop) {
  std::uint64_t limit_us = 0;
  if (::sd_watchdog_enabled(0, &limit_us) <= 0) return;
  every_ = std::chrono::milliseconds(limit_us / 2000);
  tell();
}

Watchdog::~Watchdog() {
  if (timer_) loop_.cancel(*timer_);
}

void Watchdog::tell() {
  ::sd_notify(0, "WATCHDOG=1");
  timer_ = loop_.postAfter(every_, [this] { tell(); });
}

}  // namespace pop::popdistd
