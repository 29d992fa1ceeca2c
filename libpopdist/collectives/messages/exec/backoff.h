// SPDX-License-Identifier: Apache-2.0
// A collective's wait when nothing moves. Where every rank can have a core it spins first, otherwise it
// yields its core at once; after that it sleeps. docs/adr/0006 has the measurements.
#pragma once

#include <sched.h>

#include "common/sys/relax.h"
#include "libpopdist/collectives/messages/transport/transport.h"
#include "libpopdist/collectives/messages/transport/waiting_limits.h"

namespace popdist::exec {

class Backoff {
 public:
  Backoff(transport::Sleeper& sleeper, bool oversubscribed)
      : sleeper_(sleeper), spins_(oversubscribed ? 0 : sleeper.spins()) {}

  /// Something moved: start over.
  void reset() {
    if (about_to_sleep_) sleeper_.cancel();
    about_to_sleep_ = false;
    turns_ = 0;
  }

  /// One turn of waiting. The caller looks for progress between any two turns.
  void wait() {
    ++turns_;
    if (turns_ <= spins_) {
      pop::sys::relax();
    } else if (turns_ <= spins_ + transport::kYields) {
      sched_yield();
    } else if (!about_to_sleep_) {
      sleeper_.prepare();
      about_to_sleep_ = true;
    } else {
      sleeper_.waitForRing(transport::kLongestSleep);
      about_to_sleep_ = false;
    }
  }

  /// True when the caller has waited long enough to ask whether its peers still live.
  bool patient() const { return turns_ > spins_; }

 private:
  transport::Sleeper& sleeper_;
  const int spins_;
  int turns_ = 0;
  bool about_to_sleep_ = false;
};

}  // namespace popdist::exec
