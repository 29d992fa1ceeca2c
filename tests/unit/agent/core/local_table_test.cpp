// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "agent/core/instance.h"

namespace pop::agent {
namespace {

constexpr std::array kStates{LocalState::kSpawning, LocalState::kRunning, LocalState::kDraining,
                             LocalState::kClosed};
constexpr std::array kEvents{LocalEvent::kSpawned, LocalEvent::kSpawnFailed, LocalEvent::kReaped,
                             LocalEvent::kDrained};

TEST(LocalTable, HasNoPairTwice) {
  std::set<std::pair<LocalState, LocalEvent>> seen;
  for (const LocalRow& row : kLocalTable) EXPECT_TRUE(seen.emplace(row.from, row.on).second);
}

TEST(LocalTable, LeadsForwardToClosedOnly) {
  for (const LocalState state : kStates) {
    bool has_way_out = false;
    for (const LocalEvent event : kEvents) {
      const auto next = step(state, event);
      if (!next) continue;
      has_way_out = true;
      EXPECT_GT(*next, state);
    }
    EXPECT_EQ(has_way_out, state != LocalState::kClosed);
  }
}

TEST(LocalTable, ClosesWhatNeverRanWithoutDraining) {
  EXPECT_EQ(step(LocalState::kSpawning, LocalEvent::kSpawnFailed), LocalState::kClosed);
  EXPECT_EQ(step(LocalState::kRunning, LocalEvent::kReaped), LocalState::kDraining);
  EXPECT_FALSE(step(LocalState::kRunning, LocalEvent::kSpawnFailed));
  EXPECT_FALSE(step(LocalState::kRunning, LocalEvent::kDrained));
}

}  // namespace
}  // namespace pop::agent
