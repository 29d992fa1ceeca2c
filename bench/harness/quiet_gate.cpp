// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/quiet_gate.h"

#include <thread>

#include "bench/harness/machine.h"

namespace pop::bench {

QuietGate::Passed QuietGate::wait() const {
  Passed passed;
  if (timeout_.count() <= 0) return passed;
  const auto deadline = std::chrono::steady_clock::now() + timeout_;
  do {
    const CpuTimes before = readCpuTimes();
    std::this_thread::sleep_for(kSpan);
    passed.idle_fraction = readCpuTimes().since(before).idleFraction();
    passed.quiet = passed.idle_fraction >= kIdleFraction;
  } while (!passed.quiet && std::chrono::steady_clock::now() < deadline);
  return passed;
}

}  // namespace pop::bench
