// SPDX-License-Identifier: Apache-2.0
#include "popdistd/jobs/table/seen_time.h"

#include "common/base/text.h"

namespace pop::popdistd {
namespace {

using std::chrono::milliseconds;

// A clock that is set by small steps is as good as one that is not set.
constexpr std::chrono::seconds kJump{30};

}  // namespace

std::int64_t SeenTime::storedMs() const {
  return std::chrono::floor<milliseconds>(now()).time_since_epoch().count();
}

std::optional<std::string> SeenTime::look() {
  const Moment now{loop_.now(), clock_()};
  const auto jump =
      std::chrono::duration_cast<milliseconds>((now.of_day - last_.of_day) - (now.seen - last_.seen));
  const Moment before = std::exchange(last_, now);
  if (jump < kJump && jump > -kJump) return std::nullopt;
  return "the clock of popdistd's machine has jumped by " + secondsText(std::chrono::abs(jump)) +
         (jump.count() > 0 ? " s forward" : " s back") + ", from " + timeText(timestamp(before.of_day)) +
         " to " + timeText(timestamp(now.of_day)) + ": ages of jobs do not follow it";
}

}  // namespace pop::popdistd
