// SPDX-License-Identifier: Apache-2.0
// An agent's decisions, with a host that only writes down the calls.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <string>
#include <utility>

#include "tests/unit/agent/core/agent_core_fixture.h"

namespace pop::agent {
namespace {

using std::chrono::milliseconds;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

TEST_F(AgentCoreTest, AsksForEachInstanceWithItsEnvironment) {
  run();
  EXPECT_EQ(rendezvous.opened, 1);
  ASSERT_EQ(processes.spawned.size(), 2U);
  for (const int instance : {4, 5}) {
    const SpawnRequest& request = processes.spawned[static_cast<std::size_t>(instance - 4)];
    EXPECT_EQ(request.instance, instance);
    EXPECT_THAT(request.argv, ElementsAre("./train"));
    EXPECT_THAT(request.environment, Contains(Pair("POPDIST_INSTANCE_INDEX", std::to_string(instance))));
    EXPECT_THAT(request.environment, Contains(Pair("POPDIST_NUM_INSTANCES", "6")));
    EXPECT_THAT(request.environment, Contains(Pair("POPDIST_AGENT_SOCKET", "socket-of-4f2a")));
    EXPECT_THAT(request.environment, Contains(Pair("MASTER_PORT", "2")));
  }
  EXPECT_THAT(events.lines, IsEmpty()) << "nothing has started yet";
}

TEST_F(AgentCoreTest, ReportsTheLifeOfAnInstanceInOrder) {
  run();
  core.onSpawned(4, 704);
  core.onReaped(4, {.code = 3});
  EXPECT_THAT(processes.drained, ElementsAre(4));
  EXPECT_THAT(events.lines, ElementsAre("started 4 pid 704", "ended 4: exited with code 3"))
      << "its end is told before its output is drained, and it is not closed yet";
  core.onDrained(4);
  EXPECT_EQ(events.lines.back(), "closed 4");
}

TEST_F(AgentCoreTest, AnInstanceThatCannotStartIsEndedAndClosed) {
  run();
  core.onSpawnFailed(5, 127, "'./train': No such file or directory");
  EXPECT_THAT(events.lines,
              ElementsAre("ended 5: code 127, could not be started: './train': No such file or directory",
                          "closed 5"));
  EXPECT_THAT(processes.drained, IsEmpty());
}

TEST_F(AgentCoreTest, AnEnvironmentThatTheKernelWouldRefuseIsReportedFromTheLoop) {
  JobSlice too_long = slice();
  too_long.rendezvous.tf_cluster.assign(128UL * 1024, ' ');
  core.run(std::move(too_long), events);
  EXPECT_THAT(processes.spawned, IsEmpty());
  EXPECT_THAT(events.lines, IsEmpty()) << "the controller is still inside its call of run()";
  loop.runPosted();
  ASSERT_EQ(events.lines.size(), 4U);
  EXPECT_THAT(events.lines[0], HasSubstr("ended 4: code 125, could not be started: TF_CONFIG"));
  EXPECT_THAT(events.lines[0], HasSubstr("128 KiB"));
  EXPECT_EQ(events.lines[1], "closed 4");
  EXPECT_EQ(events.lines[3], "closed 5");
}

TEST_F(AgentCoreTest, WithoutARendezvousNothingStarts) {
  rendezvous.open_error = {Code::kAlreadyExists, "the name is taken"};
  run();
  loop.runPosted();
  EXPECT_THAT(processes.spawned, IsEmpty());
  EXPECT_THAT(events.lines,
              ElementsAre("ended 4: code 125, could not be started: the name is taken", "closed 4",
                          "ended 5: code 125, could not be started: the name is taken", "closed 5"));
}

TEST_F(AgentCoreTest, StopTerminatesNowAndKillsAfterTheGrace) {
  runAndStart();
  core.stop();
  EXPECT_THAT(processes.signals,
              ElementsAre(Pair(4, SIGTERM), Pair(5, SIGTERM), Pair(4, SIGCONT), Pair(5, SIGCONT)));
  processes.signals.clear();
  loop.advance(milliseconds(4999));
  core.stop();
  EXPECT_THAT(processes.signals, IsEmpty());
  loop.advance(milliseconds(1));
  EXPECT_THAT(processes.signals, ElementsAre(Pair(4, SIGKILL), Pair(5, SIGKILL)));
}

TEST_F(AgentCoreTest, TheGraceStandsStillWithTheInstances) {
  runAndStart();
  core.stop();
  loop.advance(milliseconds(4000));
  core.signal(SIGSTOP);
  processes.signals.clear();
  loop.advance(milliseconds(60'000));
  EXPECT_THAT(processes.signals, IsEmpty());
  core.signal(SIGCONT);
  processes.signals.clear();
  loop.advance(milliseconds(999));
  EXPECT_THAT(processes.signals, IsEmpty());
  loop.advance(milliseconds(1));
  EXPECT_THAT(processes.signals, ElementsAre(Pair(4, SIGKILL), Pair(5, SIGKILL)));
}

TEST_F(AgentCoreTest, SignalsOnlyThoseThatHaveNotEnded) {
  runAndStart();
  core.stop();
  processes.signals.clear();
  core.onReaped(4, {.signal = SIGTERM});
  loop.advance(milliseconds(5000));
  EXPECT_THAT(processes.signals, ElementsAre(Pair(5, SIGKILL)));
}

TEST_F(AgentCoreTest, SignalsAlsoThoseWhoseStartIsUnderWay) {
  run();
  core.onSpawned(4, 704);
  core.kill();
  EXPECT_THAT(processes.signals, ElementsAre(Pair(4, SIGKILL), Pair(5, SIGKILL)));
}

TEST_F(AgentCoreTest, KillDoesNotWait) {
  runAndStart();
  core.kill();
  EXPECT_THAT(processes.signals, ElementsAre(Pair(4, SIGKILL), Pair(5, SIGKILL)));
}

TEST_F(AgentCoreTest, GivesUpWhatOutlivesSigkill) {
  runAndStart();
  core.kill();
  core.onReaped(4, {.signal = SIGKILL});
  loop.advance(milliseconds(4999));
  EXPECT_EQ(processes.abandoned, 0);
  loop.advance(milliseconds(1));
  EXPECT_EQ(processes.abandoned, 1);
}

TEST_F(AgentCoreTest, GivesUpNothingWhenSigkillHasEndedAll) {
  runAndStart();
  core.kill();
  core.onReaped(4, {.signal = SIGKILL});
  core.onReaped(5, {.signal = SIGKILL});
  loop.advance(milliseconds(60000));
  EXPECT_EQ(processes.abandoned, 0);
}

TEST_F(AgentCoreTest, HasNothingToStopBeforeItRuns) {
  core.stop();
  core.kill();
  EXPECT_THAT(processes.signals, IsEmpty());
}

TEST_F(AgentCoreTest, ALostKeeperLosesEveryInstance) {
  run();
  core.onSpawned(4, 704);
  events.lines.clear();
  core.onKeeperLost();
  EXPECT_THAT(processes.drained, ElementsAre(4));
  EXPECT_THAT(
      events.lines,
      ElementsAre("ended 4: code 125, was lost: the keeper process, which holds all instances, was killed",
                  "ended 5: code 125, could not be started: the keeper process, which holds all instances, "
                  "was killed",
                  "closed 5"));
  core.onDrained(4);
  EXPECT_EQ(events.lines.back(), "closed 4");
}

TEST_F(AgentCoreTest, SaysOfWhomItHasGivenUpThatSigkillHasNotHelped) {
  runAndStart();
  core.kill();
  core.onReaped(4, {.signal = SIGKILL});
  loop.advance(milliseconds(60000));
  events.lines.clear();
  core.onKeeperLost();
  EXPECT_THAT(
      events.lines,
      ElementsAre("ended 5: code 125, was lost: it had not ended 5 s after SIGKILL (is it waiting for "
                  "a device or a file server?)"));
}

TEST_F(AgentCoreTest, ALostKeeperChangesNothingForThoseThatHaveEnded) {
  runAndStart();
  core.onReaped(4, {.code = 0});
  core.onReaped(5, {.code = 0});
  core.onDrained(5);
  events.lines.clear();
  core.onKeeperLost();
  EXPECT_THAT(events.lines, IsEmpty());
}

TEST_F(AgentCoreTest, ReportsNothingTwice) {
  runAndStart();
  core.onSpawned(4, 999);
  core.onReaped(4, {.code = 1});
  core.onReaped(4, {.code = 2});
  core.onDrained(4);
  core.onDrained(4);
  EXPECT_THAT(events.lines, ElementsAre("ended 4: exited with code 1", "closed 4"));
}

TEST_F(AgentCoreTest, CarriesFencesEndNoticesAndAborts) {
  runAndStart();
  core.onFenceReached(FenceId::kInstances, {{"key", "value"}});
  EXPECT_THAT(events.fences, ElementsAre(PutValues{{"key", "value"}}));
  core.releaseFence(FenceId::kInstances, {{"other", "value"}});
  EXPECT_THAT(rendezvous.released, ElementsAre(PutValues{{"other", "value"}}));
  core.announce({.instance = 1, .text = "instance 1 exited with code 1"});
  EXPECT_THAT(rendezvous.announced, ElementsAre("instance 1 exited with code 1"));
  core.onAborted(5, 9, "loss is NaN");
  EXPECT_THAT(events.lines, ElementsAre("aborted 5: 9, loss is NaN"));
}

// ---- jobs larger than what is started at once

class LargeJobTest : public AgentCoreTest {
 protected:
  static JobSlice largeSlice() {
    JobSlice slice{.job_id = "4f2a",
                   .num_instances = 1000,
                   .programs = {{.command = {"./train"}, .num_instances = 1000}},
                   .kill_grace = milliseconds(5000)};
    for (int instance = 0; instance < 1000; ++instance) {
      slice.instances.push_back({.env = {.num_total_replicas = 1000,
                                         .replica_index_offset = instance,
                                         .num_instances = 1000,
                                         .instance_index = instance,
                                         .num_local_instances = 1000,
                                         .local_instance_index = instance}});
    }
    return slice;
  }
};

TEST_F(LargeJobTest, IsStartedAFewAtATime) {
  core.run(largeSlice(), events);
  const std::size_t at_once = processes.spawned.size();
  EXPECT_LT(at_once, 1000U);
  EXPECT_GE(at_once, 2U);
  for (int instance = 0; instance < 1000; ++instance) {
    ASSERT_GT(processes.spawned.size(), static_cast<std::size_t>(instance))
        << "each start makes room for another";
    core.onSpawned(instance, 10000 + instance);
  }
  EXPECT_EQ(processes.spawned.size(), 1000U);
}

TEST_F(LargeJobTest, WhatHasNotBeenStartedWhenTheJobStopsNeverIs) {
  core.run(largeSlice(), events);
  const int asked = static_cast<int>(processes.spawned.size());
  core.onSpawned(0, 10000);
  core.stop();
  loop.runPosted();
  for (int instance = 1; instance <= asked; ++instance) core.onSpawned(instance, 10000 + instance);
  EXPECT_EQ(processes.spawned.size(), static_cast<std::size_t>(asked) + 1);
  EXPECT_EQ(std::count_if(events.lines.begin(), events.lines.end(),
                          [](const std::string& line) { return line.starts_with("closed"); }),
            1000 - asked - 1);
}

TEST_F(LargeJobTest, StartsNothingMoreBetweenSigstopAndSigcont) {
  core.run(largeSlice(), events);
  const std::size_t asked = processes.spawned.size();
  core.signal(SIGSTOP);
  core.onSpawned(0, 10000);
  core.onSpawnFailed(1, 127, "\"./train\": No such file or directory");
  EXPECT_EQ(processes.spawned.size(), asked);
  core.signal(SIGCONT);
  EXPECT_EQ(processes.spawned.size(), asked + 2);
}

TEST_F(AgentCoreTest, ASliceThatComesAfterSigstopWaitsForSigcont) {
  core.signal(SIGSTOP);
  run();
  EXPECT_THAT(processes.spawned, IsEmpty());
  core.signal(SIGCONT);
  EXPECT_EQ(processes.spawned.size(), 2U);
  EXPECT_THAT(processes.signals, IsEmpty()) << "they have not been stopped";
}

TEST_F(LargeJobTest, WhatIsStoppedBySigstopCanBeEnded) {
  core.run(largeSlice(), events);
  const int asked = static_cast<int>(processes.spawned.size());
  core.signal(SIGSTOP);
  core.stop();
  loop.runPosted();
  for (int instance = 0; instance < asked; ++instance) {
    core.onSpawned(instance, 10000 + instance);
    core.onReaped(instance, {.signal = SIGTERM});
    core.onDrained(instance);
  }
  EXPECT_EQ(processes.spawned.size(), static_cast<std::size_t>(asked));
  EXPECT_EQ(std::count_if(events.lines.begin(), events.lines.end(),
                          [](const std::string& line) { return line.starts_with("closed"); }),
            1000);
}

TEST_F(LargeJobTest, IsLostAsAWholeWithItsKeeper) {
  core.run(largeSlice(), events);
  core.onSpawned(0, 10000);
  const std::size_t asked = processes.spawned.size();
  core.onKeeperLost();
  core.onDrained(0);
  EXPECT_EQ(processes.spawned.size(), asked) << "nothing more can be started";
  EXPECT_EQ(std::count_if(events.lines.begin(), events.lines.end(),
                          [](const std::string& line) { return line.starts_with("closed"); }),
            1000);
}

TEST_F(AgentCoreTest, RunsAgainWhenAllHaveClosed) {
  runAndStart();
  core.stop();
  for (const int instance : {4, 5}) {
    core.onReaped(instance, {.signal = SIGTERM});
    core.onDrained(instance);
  }
  processes.spawned.clear();
  run();
  EXPECT_EQ(processes.spawned.size(), 2U);
  EXPECT_EQ(rendezvous.opened, 2);
  core.onSpawned(4, 804);
  processes.signals.clear();
  core.stop();
  EXPECT_THAT(processes.signals, Contains(Pair(4, SIGTERM))) << "the stop of the run before does not count";
}

TEST_F(AgentCoreTest, PassesASignalOn) {
  runAndStart();
  core.signal(SIGUSR1);
  EXPECT_THAT(processes.signals, ElementsAre(Pair(4, SIGUSR1), Pair(5, SIGUSR1)));
}

}  // namespace
}  // namespace pop::agent
