// SPDX-License-Identifier: Apache-2.0
// Time that popdistd has seen pass, over all its lives: ages of jobs are counted by it, since the time of day
// can jump. It begins as the time of day, and stands still while popdistd does not run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/base/loop.h"
#include "popdistd/common/wall_clock.h"

namespace pop::popdistd {

class SeenTime {
 public:
  using Time = std::chrono::system_clock::time_point;

  /// `stored_ms`: where the last life of popdistd has stopped; 0: there was none.
  SeenTime(const Loop& loop, const WallClock& clock, std::int64_t stored_ms)
      : loop_(loop),
        clock_(clock),
        base_(stored_ms > 0 ? Time(std::chrono::milliseconds(stored_ms)) : clock()),
        since_(loop.now()),
        last_{since_, clock()} {}

  Time now() const {
    return base_ + std::chrono::duration_cast<std::chrono::system_clock::duration>(loop_.now() - since_);
  }
  std::int64_t storedMs() const;

  /// Call it every second. Returns a warning if the time of day has jumped meanwhile.
  std::optional<std::string> look();

 private:
  struct Moment {
    Clock::time_point seen;
    Time of_day;
  };

  const Loop& loop_;
  const WallClock& clock_;
  const Time base_;
  const Clock::time_point since_;
  Moment last_;
};

}  // namespace pop::popdistd
