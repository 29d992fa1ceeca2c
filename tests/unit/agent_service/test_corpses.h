// SPDX-License-Identifier: Apache-2.0
// What tests leave to be reaped: one list for all of them, so that none sees children of another's.
#pragma once

#include <chrono>

#include "agent/service/corpses.h"
#include "tests/testing/fake_loop.h"
#include "tests/testing/process_tree.h"

namespace pop::testing {

inline FakeLoop& corpsesLoop() {
  static FakeLoop loop;
  return loop;
}

inline agent::Corpses& corpses() {
  static agent::Corpses corpses(corpsesLoop());
  return corpses;
}

/// Soon. None whom somebody traces.
inline bool allAreReaped() {
  const auto reaped = [] {
    corpsesLoop().advance(std::chrono::minutes(1));
    return corpses().count() == 0;
  };
  return waitUntil(reaped, std::chrono::seconds(20));
}

}  // namespace pop::testing
