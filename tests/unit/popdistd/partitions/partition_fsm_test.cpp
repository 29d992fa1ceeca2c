// SPDX-License-Identifier: Apache-2.0
// The table of a partition, walked pair by pair.
#include "popdistd/partitions/partition_fsm.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <utility>

namespace pop::vipu {
namespace {

using State = PartitionState;
using Event = PartitionEvent;
using Do = PartitionAction;

constexpr std::array kStates{State::kCreating, State::kActive,   State::kResetting,  State::kError,
                             State::kFailed,   State::kRemoving, State::kQuarantine, State::kRemoved};
constexpr std::array kEvents{Event::kConfigured,  Event::kConfigFailed, Event::kRetriesOver, Event::kReset,
                             Event::kAutoReset,   Event::kMachineLost,  Event::kRemove,      Event::kReleased,
                             Event::kNotReleased, Event::kForcedRelease};

// The table as a reader would draw it. Pairs that are missing mean nothing in that state.
const std::map<std::pair<State, Event>, PartitionTransition> kDrawing{
    {{State::kCreating, Event::kConfigured}, {State::kActive, Do::kNone}},
    {{State::kCreating, Event::kConfigFailed}, {State::kResetting, Do::kConfigure}},
    {{State::kCreating, Event::kRetriesOver}, {State::kFailed, Do::kNone}},
    {{State::kCreating, Event::kMachineLost}, {State::kError, Do::kNone}},
    {{State::kCreating, Event::kRemove}, {State::kRemoving, Do::kRelease}},
    {{State::kActive, Event::kReset}, {State::kResetting, Do::kConfigure}},
    {{State::kActive, Event::kMachineLost}, {State::kError, Do::kNone}},
    {{State::kActive, Event::kRemove}, {State::kRemoving, Do::kRelease}},
    {{State::kResetting, Event::kConfigured}, {State::kActive, Do::kNone}},
    {{State::kResetting, Event::kConfigFailed}, {State::kResetting, Do::kConfigure}},
    {{State::kResetting, Event::kRetriesOver}, {State::kFailed, Do::kNone}},
    {{State::kResetting, Event::kMachineLost}, {State::kError, Do::kNone}},
    {{State::kResetting, Event::kRemove}, {State::kRemoving, Do::kRelease}},
    {{State::kError, Event::kReset}, {State::kResetting, Do::kConfigure}},
    {{State::kError, Event::kAutoReset}, {State::kResetting, Do::kConfigure}},
    {{State::kError, Event::kRemove}, {State::kRemoving, Do::kRelease}},
    {{State::kFailed, Event::kReset}, {State::kResetting, Do::kConfigure}},
    {{State::kFailed, Event::kRemove}, {State::kRemoving, Do::kRelease}},
    {{State::kRemoving, Event::kReleased}, {State::kRemoved, Do::kForget}},
    {{State::kRemoving, Event::kNotReleased}, {State::kQuarantine, Do::kNone}},
    {{State::kQuarantine, Event::kReleased}, {State::kRemoved, Do::kForget}},
    {{State::kQuarantine, Event::kRemove}, {State::kRemoving, Do::kRelease}},
    {{State::kQuarantine, Event::kForcedRelease}, {State::kRemoved, Do::kForget}},
};

TEST(PartitionFsm, EveryPairOfStateAndEventDoesWhatTheDrawingSays) {
  for (const State state : kStates) {
    for (const Event event : kEvents) {
      const auto transition = step(state, event);
      const auto drawn = kDrawing.find({state, event});
      const std::string where = "state " + std::to_string(static_cast<int>(state)) + ", event " +
                                std::to_string(static_cast<int>(event));
      ASSERT_EQ(transition.has_value(), drawn != kDrawing.end()) << where;
      if (!transition) continue;
      EXPECT_EQ(*transition, drawn->second) << where;
    }
  }
}

TEST(PartitionFsm, HasNoPairTwice) {
  std::set<std::pair<State, Event>> seen;
  for (const PartitionRow& row : kPartitionTable) EXPECT_TRUE(seen.emplace(row.from, row.on).second);
}

TEST(PartitionFsm, EveryStateIsReachedAndReachesRemoved) {
  std::set<State> reached{State::kCreating};
  std::set<State> reaches_removed{State::kRemoved};
  for (std::size_t round = 0; round < kStates.size(); ++round) {
    for (const PartitionRow& row : kPartitionTable) {
      if (reached.contains(row.from)) reached.insert(row.to);
      if (reaches_removed.contains(row.to)) reaches_removed.insert(row.from);
    }
  }
  EXPECT_EQ(reached.size(), kStates.size());
  EXPECT_EQ(reaches_removed.size(), kStates.size());
}

TEST(PartitionFsm, OnlyAProofOrAnOperatorRemoves) {
  for (const PartitionRow& row : kPartitionTable) {
    EXPECT_EQ(row.to == State::kRemoved, row.on == Event::kReleased || row.on == Event::kForcedRelease);
    EXPECT_EQ(row.to == State::kRemoved, row.action == Do::kForget);
  }
}

}  // namespace
}  // namespace pop::vipu
