// SPDX-License-Identifier: Apache-2.0
// Tells systemd how the daemon is, where systemd has started it (Type=notify, WatchdogSec=); else does
// nothing.
#pragma once

#include <chrono>
#include <optional>

#include "common/base/loop.h"

namespace pop::popdistd {

void notifyReady();
void notifyStopping();

/// Tells it regularly that the loop turns, from the construction to the end. On the loop's thread.
class Watchdog {
 public:
  explicit Watchdog(Loop& loop);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  void tell();

  Loop& loop_;
  std::chrono::milliseconds every_{0};
  std::optional<TimerId> timer_;
};

}  // namespace pop::popdistd
