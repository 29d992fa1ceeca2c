// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/group/call_path.h"

#include "common/sys/futex.h"

namespace popdist::group {

// Messages cannot be seen before they are received, so other ranks' calls are not noticed here: the caller
// has to make a call now and then. Changes in this process wake the wait at once.
bool CallPath::awaitNext(const std::function<bool()>& there, std::chrono::milliseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  for (;;) {
    const std::uint32_t seen = wake_count_.load();
    if (there()) return false;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    if (left <= std::chrono::milliseconds(0)) return true;
    pop::sys::futexWait(wake_count_, seen, left);
  }
}

void CallPath::wake() {
  ++wake_count_;
  pop::sys::futexWakeAll(wake_count_);
}

}  // namespace popdist::group
