// SPDX-License-Identifier: Apache-2.0
// The tables of a job and of its instances, walked pair by pair: nothing ambiguous, nothing without a way
// out.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "controller/core/instance_fsm.h"
#include "controller/core/job_fsm.h"

namespace pop {
namespace {

constexpr std::array kJobStates{JobState::kPending,  JobState::kStarting, JobState::kRunning,
                                JobState::kStopping, JobState::kKilling,  JobState::kRestarting,
                                JobState::kDone};
constexpr std::array kJobEvents{JobEvent::kPlaced, JobEvent::kAllStarted, JobEvent::kFailure,
                                JobEvent::kStop,   JobEvent::kTimeout,    JobEvent::kAllClosed,
                                JobEvent::kRetry,  JobEvent::kDelayOver};
constexpr std::array kEachInstanceState{InstanceState::kPending, InstanceState::kStarting,
                                        InstanceState::kRunning, InstanceState::kEnded,
                                        InstanceState::kClosed};
constexpr std::array kEachInstanceEvent{InstanceEvent::kStart, InstanceEvent::kStarted, InstanceEvent::kEnded,
                                        InstanceEvent::kClosed};

// The tables, state by state and event by event, as a reader would draw them. Pairs that are missing mean
// nothing in that state.
using JobMove = std::pair<JobState, JobAction>;
const std::map<std::pair<JobState, JobEvent>, JobMove> kJobDrawing{
    {{JobState::kPending, JobEvent::kPlaced}, {JobState::kStarting, JobAction::kStartAll}},
    {{JobState::kPending, JobEvent::kFailure}, {JobState::kDone, JobAction::kReport}},
    {{JobState::kPending, JobEvent::kRetry}, {JobState::kRestarting, JobAction::kWait}},
    {{JobState::kPending, JobEvent::kStop}, {JobState::kDone, JobAction::kReport}},
    {{JobState::kPending, JobEvent::kTimeout}, {JobState::kDone, JobAction::kReport}},
    {{JobState::kStarting, JobEvent::kAllStarted}, {JobState::kRunning, JobAction::kNone}},
    {{JobState::kStarting, JobEvent::kFailure}, {JobState::kStopping, JobAction::kStopAll}},
    {{JobState::kStarting, JobEvent::kStop}, {JobState::kStopping, JobAction::kStopAll}},
    {{JobState::kStarting, JobEvent::kTimeout}, {JobState::kStopping, JobAction::kStopAll}},
    {{JobState::kRunning, JobEvent::kTimeout}, {JobState::kStopping, JobAction::kStopAll}},
    {{JobState::kRunning, JobEvent::kFailure}, {JobState::kStopping, JobAction::kStopAll}},
    {{JobState::kRunning, JobEvent::kStop}, {JobState::kStopping, JobAction::kStopAll}},
    {{JobState::kRunning, JobEvent::kAllClosed}, {JobState::kDone, JobAction::kReport}},
    {{JobState::kStopping, JobEvent::kStop}, {JobState::kKilling, JobAction::kKillAll}},
    {{JobState::kStopping, JobEvent::kAllClosed}, {JobState::kDone, JobAction::kReport}},
    {{JobState::kStopping, JobEvent::kRetry}, {JobState::kRestarting, JobAction::kWait}},
    {{JobState::kKilling, JobEvent::kAllClosed}, {JobState::kDone, JobAction::kReport}},
    {{JobState::kRestarting, JobEvent::kDelayOver}, {JobState::kPending, JobAction::kPlace}},
    {{JobState::kRestarting, JobEvent::kStop}, {JobState::kDone, JobAction::kReport}},
    {{JobState::kRestarting, JobEvent::kTimeout}, {JobState::kDone, JobAction::kReport}},
};

TEST(JobTable, EveryPairOfStateAndEventDoesWhatTheDrawingSays) {
  for (const JobState state : kJobStates) {
    for (const JobEvent event : kJobEvents) {
      const auto transition = step(state, event);
      const auto drawn = kJobDrawing.find({state, event});
      const std::string where =
          std::string(nameOf(state)) + ", event " + std::to_string(static_cast<int>(event));
      ASSERT_EQ(transition.has_value(), drawn != kJobDrawing.end()) << where;
      if (!transition) continue;
      EXPECT_EQ(transition->to, drawn->second.first) << where;
      EXPECT_EQ(transition->action, drawn->second.second) << where;
    }
  }
}

TEST(JobTable, HasNoPairTwice) {
  std::set<std::pair<JobState, JobEvent>> seen;
  for (const JobRow& row : kJobTable) {
    EXPECT_TRUE(seen.emplace(row.from, row.on).second)
        << nameOf(row.from) << ", event " << static_cast<int>(row.on);
  }
}

TEST(JobTable, EveryStateIsReachedAndReachesDone) {
  std::set<JobState> reached{JobState::kPending};
  std::set<JobState> reaches_done{JobState::kDone};
  for (std::size_t round = 0; round < kJobStates.size(); ++round) {
    for (const JobRow& row : kJobTable) {
      if (reached.contains(row.from)) reached.insert(row.to);
      if (reaches_done.contains(row.to)) reaches_done.insert(row.from);
    }
  }
  EXPECT_EQ(reached.size(), kJobStates.size());
  EXPECT_EQ(reaches_done.size(), kJobStates.size());
}

TEST(JobTable, ReportsExactlyWhenTheJobIsDone) {
  for (const JobRow& row : kJobTable) {
    EXPECT_EQ(row.to == JobState::kDone, row.action == JobAction::kReport) << nameOf(row.from);
  }
}

TEST(JobTable, NothingLeavesDone) {
  for (const JobEvent event : kJobEvents) EXPECT_FALSE(step(JobState::kDone, event));
}

TEST(JobTable, NamesItsStatesForTheLog) {
  std::set<std::string> names;
  for (const JobState state : kJobStates) names.insert(nameOf(state));
  EXPECT_EQ(names, (std::set<std::string>{"pending", "starting", "running", "stopping", "killing",
                                          "waiting to be started again", "done"}));
}

TEST(InstanceTable, HasNoPairTwice) {
  std::set<std::pair<InstanceState, InstanceEvent>> seen;
  for (const InstanceRow& row : kInstanceTable) EXPECT_TRUE(seen.emplace(row.from, row.on).second);
}

TEST(InstanceTable, LeadsForwardToClosedOnly) {
  for (const InstanceState state : kEachInstanceState) {
    bool has_way_out = false;
    for (const InstanceEvent event : kEachInstanceEvent) {
      const auto next = step(state, event);
      if (!next) continue;
      has_way_out = true;
      EXPECT_GT(*next, state) << "an instance never goes back";
    }
    EXPECT_EQ(has_way_out, state != InstanceState::kClosed);
  }
}

TEST(InstanceTable, LetsAnInstanceEndThatNeverStarted) {
  EXPECT_EQ(step(InstanceState::kStarting, InstanceEvent::kEnded), InstanceState::kEnded);
  EXPECT_FALSE(step(InstanceState::kPending, InstanceEvent::kEnded));
  EXPECT_FALSE(step(InstanceState::kRunning, InstanceEvent::kClosed)) << "closed comes after ended";
  EXPECT_FALSE(step(InstanceState::kEnded, InstanceEvent::kEnded)) << "nobody ends twice";
}

}  // namespace
}  // namespace pop
