// SPDX-License-Identifier: Apache-2.0
// One list of children to be reaped, for all tests, so that none sees children of another's.
#pragma once

#include <chrono>

#include "agent/service/zombie_reaper.h"
#include "tests/testing/fake_loop.h"
#include "tests/testing/process_tree.h"

namespace pop::testing {

inline FakeLoop& reaperLoop() {
  static FakeLoop loop;
  return loop;
}

inline agent::ZombieReaper& zombies() {
  static agent::ZombieReaper zombies(reaperLoop());
  return zombies;
}

/// True soon, unless a child is traced.
inline bool allAreReaped() {
  const auto reaped = [] {
    reaperLoop().advance(std::chrono::minutes(1));
    return zombies().count() == 0;
  };
  return waitUntil(reaped, std::chrono::seconds(20));
}

}  // namespace pop::testing
