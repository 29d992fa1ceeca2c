// SPDX-License-Identifier: Apache-2.0
// The comparison in every write of a leader to etcd: so nothing of a leader of the past is ever written.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "common/base/loop.h"
#include "common/base/status.h"

namespace pop::popdistd {

struct Fence {
  std::string key;            ///< the leader's
  std::int64_t revision = 0;  ///< at which it was made
  /// Until when it is surely held: after that another may lead. From any thread.
  std::function<Clock::time_point()> held_until;
  /// Leadership is lost, or may be. From any thread; a daemon does not return from it.
  std::function<void(const Status& why)> lost;
};

}  // namespace pop::popdistd
