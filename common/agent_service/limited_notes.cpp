// SPDX-License-Identifier: Apache-2.0
#include "common/agent_service/limited_notes.h"

#include <chrono>

namespace pop::wire {

void LimitedNotes::add(const std::string& line) {
  if (!minute_) {
    in_minute_ = 0;
    minute_ = loop_.postAfter(std::chrono::minutes(1), [this] {
      minute_.reset();
      if (in_minute_ > kMostInAMinute)
        note_(std::to_string(in_minute_ - kMostInAMinute) + " more " + what_ + " within a minute");
    });
  }
  if (++in_minute_ <= kMostInAMinute) note_(line);
}

}  // namespace pop::wire
