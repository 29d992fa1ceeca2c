// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/src/group/call_path.h"

#include "common/sys/futex.h"

namespace popdist::group {

// Messages say nothing before they are received: calls that are made every now and then are what there is of
// others. What happens in this process is known at once.
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
