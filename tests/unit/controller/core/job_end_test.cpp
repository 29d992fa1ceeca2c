// SPDX-License-Identifier: Apache-2.0
// A job's end, and the event that gives it its exit code.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "common/base/text.h"
#include "tests/unit/controller/core/job_fixture.h"

namespace pop {
namespace {

TEST(JobEnd, IsWhenEveryInstanceHasClosed) {
  JobFixture job(2, 2);
  job.startAll();
  job.ended(0, kSuccess);
  job.ended(1, kSuccess);
  job.closed(1);
  EXPECT_FALSE(job.done()) << "output of instance 0 is still on its way";
  job.closed(0);
  ASSERT_TRUE(job.done());
  EXPECT_EQ(job.outcome().exit_code, 0);
  EXPECT_EQ(job.agent(0).stops + job.agent(1).stops, 0);
}

TEST(JobEnd, SuccessOfOneStopsNobody) {
  JobFixture job(1, 2);
  job.startAll();
  job.endAndClose(0, kSuccess);
  EXPECT_EQ(job.job().state(), JobState::kRunning);
  EXPECT_EQ(job.agent(0).stops, 0);
}

TEST(JobEnd, TheFirstFailureReportedGivesTheExitCode) {
  JobFixture job(2, 4);
  job.startAll();
  job.ended(3, {.code = 7});
  job.ended(0, {.signal = SIGSEGV});
  for (const int instance : {1, 2}) job.ended(instance, {.signal = SIGTERM});
  for (const int instance : {0, 1, 2, 3}) job.closed(instance);
  ASSERT_TRUE(job.done());
  EXPECT_EQ(job.outcome().exit_code, 7);
  EXPECT_EQ(job.outcome().failure->instance, 3);
  EXPECT_EQ(job.outcome().failure->pid, JobFixture::pidOf(3));
  EXPECT_EQ(job.outcome().failure->reason, "exited with code 7");
}

TEST(JobEnd, AFatalSignalIs128PlusItsNumber) {
  JobFixture job(1, 1);
  job.startAll();
  job.endAndClose(0, {.signal = SIGSEGV, .core_dumped = true});
  EXPECT_EQ(job.outcome().exit_code, 139);
  EXPECT_EQ(job.outcome().failure->reason, "was killed by SIGSEGV (core dumped)");
}

TEST(JobEnd, AnInstanceThatLeftThoughAnotherNeededItIsItsCause) {
  JobFixture job(3, 3);
  job.startAll();
  job.endAndClose(1, kSuccess);
  job.endedAsTold(0, {.code = 3}, 1);
  EXPECT_EQ(job.agent(0).stops, 1);
  job.ended(2, {.signal = SIGTERM});
  for (const int instance : {0, 2}) job.closed(instance);
  ASSERT_TRUE(job.done());
  EXPECT_EQ(job.outcome().exit_code, 3);
  EXPECT_EQ(job.outcome().failure->instance, 1);
  EXPECT_EQ(job.outcome().failure->pid, JobFixture::pidOf(1));
  EXPECT_THAT(job.outcome().failure->reason,
              ::testing::MatchesRegex("exited with code 0 although instance 0 .pid 700 on .*. needed it, "
                                      "which exited with code 3"));
}

TEST(JobEnd, AFailureStopsEveryHostOnce) {
  JobFixture job(3, 3);
  job.startAll();
  job.ended(1, {.code = 1});
  for (int host = 0; host < 3; ++host) EXPECT_EQ(job.agent(host).stops, 1);
  job.ended(0, {.code = 2});
  job.aborted(2, 3, "me too");
  job.ended(2, {.code = 3});
  for (int host = 0; host < 3; ++host) {
    EXPECT_EQ(job.agent(host).stops, 1);
    EXPECT_EQ(job.agent(host).kills, 0);
  }
}

TEST(JobEnd, AFailureWhileStartingStopsThoseThatStartLater) {
  JobFixture job(1, 2);
  job.job().start();
  job.started(0);
  job.endAndClose(0, {.code = 5});
  EXPECT_EQ(job.job().state(), JobState::kStopping);
  job.started(1);
  EXPECT_EQ(job.job().state(), JobState::kStopping) << "not running, whoever starts now";
  job.endAndClose(1, {.signal = SIGTERM});
  EXPECT_EQ(job.outcome().exit_code, 5);
}

TEST(JobEnd, AProgramThatDoesNotExistIs127) {
  JobFixture job(1, 2);
  job.job().start();
  job.cannotStart(0, 127, "'./train': No such file or directory");
  job.closed(0);
  job.cannotStart(1, 127, "'./train': No such file or directory");
  job.closed(1);
  ASSERT_TRUE(job.done());
  EXPECT_EQ(job.outcome().exit_code, 127);
  EXPECT_EQ(job.outcome().failure->pid, 0);
  EXPECT_EQ(job.outcome().failure->reason, "could not be started: './train': No such file or directory");
}

TEST(JobEnd, AnAbortCarriesItsExitCode) {
  JobFixture job(1, 2);
  job.startAll();
  job.aborted(1, 42, "loss is NaN");
  EXPECT_EQ(job.agent(0).stops, 1);
  job.endAndClose(1, {.code = 1});
  job.endAndClose(0, {.signal = SIGTERM});
  EXPECT_EQ(job.outcome().exit_code, 42);
  EXPECT_EQ(job.outcome().failure->instance, 1);
  EXPECT_EQ(job.outcome().failure->reason, "asked to end the job: loss is NaN");
  EXPECT_EQ(job.outcome().instances_stopped, 1);
}

TEST(JobEnd, ThoseWhoHadEndedBeforeAFailureWereNotStopped) {
  JobFixture job(1, 4);
  job.startAll();
  job.endAndClose(0, kSuccess);
  job.ended(1, kSuccess);
  job.ended(2, {.code = 3});
  job.endAndClose(3, {.signal = SIGTERM});
  for (const int instance : {1, 2}) job.closed(instance);
  EXPECT_EQ(job.outcome().instances_stopped, 1);
}

TEST(JobEnd, WhatAnAbortSaysIsOneLine) {
  JobFixture job(1, 1);
  job.startAll();
  job.aborted(0, 42, "first\nsecond \x1b[2J");
  job.endAndClose(0, {.code = 42});
  EXPECT_EQ(job.outcome().failure->reason, "asked to end the job: " + printable("first\nsecond \x1b[2J"));
  EXPECT_EQ(job.outcome().failure->reason.find_first_of("\n\x1b"), std::string::npos);
}

TEST(JobEnd, AnAbortAfterAFailureChangesNothing) {
  JobFixture job(1, 2);
  job.startAll();
  job.ended(0, {.code = 3});
  job.aborted(1, 42, "instance 0 is gone");
  job.closed(0);
  job.endAndClose(1, {.code = 42});
  EXPECT_EQ(job.outcome().exit_code, 3);
}

TEST(JobStop, CtrlCIs130WhateverTheInstancesDoThen) {
  JobFixture job(1, 2);
  job.startAll();
  job.job().stop(SIGINT);
  EXPECT_EQ(job.agent(0).stops, 1);
  job.endAndClose(0, {.code = 9});
  job.endAndClose(1, {.signal = SIGKILL});
  ASSERT_TRUE(job.done());
  EXPECT_EQ(job.outcome().exit_code, 130);
  EXPECT_EQ(job.outcome().user_signal, SIGINT);
  EXPECT_FALSE(job.outcome().failure) << "deaths that we caused are nobody's failure";
}

TEST(JobStop, OtherSignalsAre128PlusTheirNumber) {
  JobFixture job(1, 1);
  job.startAll();
  job.job().stop(SIGTERM);
  job.endAndClose(0, kSuccess);
  EXPECT_EQ(job.outcome().exit_code, 143);
}

TEST(JobStop, TheSecondOneKills) {
  JobFixture job(2, 2);
  job.startAll();
  job.job().stop(SIGINT);
  EXPECT_EQ(job.agent(1).kills, 0);
  job.job().stop(SIGINT);
  job.job().stop(SIGINT);
  for (int host = 0; host < 2; ++host) {
    EXPECT_EQ(job.agent(host).stops, 1);
    EXPECT_EQ(job.agent(host).kills, 1) << "a third one adds nothing";
  }
}

TEST(JobStop, AfterAFailureIsTheUsersImpatience) {
  JobFixture job(1, 2);
  job.startAll();
  job.ended(0, {.code = 1});
  job.job().stop(SIGINT);
  EXPECT_EQ(job.agent(0).kills, 1) << "the grace has begun already";
}

TEST(JobStop, OutputThatNobodyReadsStopsTheJob) {
  JobFixture job(1, 1);
  job.startAll();
  job.job().stop(SIGPIPE);
  EXPECT_EQ(job.agent(0).stops, 1);
  job.endAndClose(0, {.signal = SIGTERM});
  EXPECT_EQ(job.outcome().exit_code, 128 + SIGPIPE);
}

TEST(JobStop, OutputThatNobodyReadsHurriesNoJobThatIsEnding) {
  JobFixture failed(1, 2);
  failed.startAll();
  failed.ended(0, {.code = 3});
  failed.job().stop(SIGPIPE);
  EXPECT_EQ(failed.agent(0).kills, 0);
  failed.closed(0);
  failed.endAndClose(1, {.signal = SIGTERM});
  EXPECT_EQ(failed.outcome().exit_code, 3);

  JobFixture interrupted(1, 1);
  interrupted.startAll();
  interrupted.job().stop(SIGINT);
  interrupted.job().stop(SIGPIPE);
  EXPECT_EQ(interrupted.agent(0).kills, 0);
  interrupted.endAndClose(0, {.signal = SIGTERM});
  EXPECT_EQ(interrupted.outcome().exit_code, 130);
}

TEST(JobStop, WhileStartingStopsWhatHasStarted) {
  JobFixture job(1, 2);
  job.job().start();
  job.started(0);
  job.job().stop(SIGHUP);
  EXPECT_EQ(job.agent(0).stops, 1);
  job.endAndClose(0, {.signal = SIGTERM});
  job.started(1);
  job.endAndClose(1, {.signal = SIGTERM});
  EXPECT_EQ(job.outcome().exit_code, 128 + SIGHUP);
}

TEST(JobStop, WhenAllIsOverChangesNothing) {
  JobFixture job(1, 1);
  job.startAll();
  job.endAndClose(0, {.code = 6});
  job.job().stop(SIGINT);
  EXPECT_EQ(job.reports(), 1);
  EXPECT_EQ(job.outcome().exit_code, 6);
  EXPECT_EQ(job.agent(0).kills, 0);
}

// They wait no longer for it.
constexpr std::chrono::milliseconds kOfGoodEnds{100};

TEST(JobEndNotices, GoToEveryHost) {
  JobFixture job(2, 2);
  job.startAll();
  job.ended(1, {.signal = SIGKILL});
  for (int host = 0; host < 2; ++host) {
    ASSERT_EQ(job.agent(host).announced.size(), 1U);
    EXPECT_EQ(job.agent(host).announced[0].instance, 1);
    EXPECT_FALSE(job.agent(host).announced[0].clean);
    EXPECT_EQ(job.agent(host).announced[0].text, "instance 1 (pid 701 on node2) was killed by SIGKILL");
  }
  job.ended(0, kSuccess);
  job.loop().advance(kOfGoodEnds);
  EXPECT_TRUE(job.agent(1).announced.at(1).clean);
  EXPECT_EQ(job.agent(1).announced.at(1).text, "instance 0 (pid 700 on node1) exited with code 0");
}

TEST(JobEndNotices, OfManyThatEndTogetherAreOneMessage) {
  JobFixture job(1, 4);
  job.startAll();
  for (const int instance : {0, 1, 2}) job.ended(instance, kSuccess);
  EXPECT_EQ(job.agent(0).announcements, 0) << "the last one may end as well in a moment";
  job.loop().advance(kOfGoodEnds);
  EXPECT_EQ(job.agent(0).announced.size(), 3U);
  EXPECT_EQ(job.agent(0).announcements, 1);
}

TEST(JobEndNotices, OfAFailureDoNotWait) {
  JobFixture job(1, 5);
  job.startAll();
  job.ended(0, kSuccess);
  job.loop().advance(std::chrono::milliseconds(10));
  job.ended(1, {.code = 3});
  EXPECT_EQ(job.agent(0).announced.size(), 2U);
  for (const int instance : {2, 3}) job.ended(instance, {.signal = SIGTERM});
  job.loop().advance(std::chrono::milliseconds(19));
  EXPECT_EQ(job.agent(0).announcements, 1);
  job.loop().advance(std::chrono::milliseconds(1));
  EXPECT_EQ(job.agent(0).announced.size(), 4U);
  EXPECT_EQ(job.agent(0).announcements, 2);
}

TEST(JobEndNotices, OfGoodEndsWaitLongerThanThoseOfFailuresBehindThem) {
  JobFixture job(1, 6);
  job.startAll();
  for (const int instance : {0, 1}) job.ended(instance, {.signal = SIGTERM});
  job.loop().advance(std::chrono::milliseconds(20));
  EXPECT_EQ(job.agent(0).announced.size(), 2U);
  job.ended(2, kSuccess);
  job.loop().advance(std::chrono::milliseconds(50));
  EXPECT_EQ(job.agent(0).announced.size(), 2U) << "it ended well";
  job.ended(3, {.signal = SIGTERM});
  EXPECT_EQ(job.agent(0).announced.size(), 4U) << "a failure takes it along";
}

TEST(JobEndNotices, AreNotForHostsWhoseInstancesHaveAllEnded) {
  JobFixture job(3, 3);
  job.startAll();
  job.endAndClose(0, kSuccess);
  job.loop().advance(kOfGoodEnds);
  EXPECT_EQ(job.agent(0).announced.size(), 0U);
  job.endAndClose(1, kSuccess);
  job.endAndClose(2, kSuccess);
  job.loop().advance(kOfGoodEnds);
  EXPECT_EQ(job.agent(1).announced.size(), 1U);
  EXPECT_EQ(job.agent(2).announced.size(), 1U);
}

TEST(JobEndNotices, OfAnInstanceThatNeverStartedNameNoPid) {
  JobFixture job(1, 2);
  job.job().start();
  job.cannotStart(1, 126, "'./train': Permission denied");
  EXPECT_EQ(job.agent(0).announced.at(0).text,
            "instance 1 could not be started: './train': Permission denied");
}

TEST(JobEndNotices, ReachTheOthersOnlyAfterTheFailureIsDecided) {
  JobFixture job(1, 2);
  job.startAll();
  // The news makes instance 0 fail at once, from inside the announcement: no report could be quicker.
  job.agent(0).on_announce = [&job](const EndNotice& end_notice) {
    if (end_notice.instance == 1) job.ended(0, {.code = 99});
  };
  job.ended(1, {.code = 3});
  job.closed(1);
  job.closed(0);
  ASSERT_TRUE(job.done());
  EXPECT_EQ(job.outcome().exit_code, 3);
  EXPECT_EQ(job.outcome().failure->instance, 1);
}

// An exception on instance 1 has told instances 0 and 2, which end before it.
TEST(JobEnd, TheFailureThatOthersWereToldOfComesFirst) {
  JobFixture job(1, 3);
  job.startAll();
  job.endedAsTold(0, {.code = 5}, 1);
  job.ended(2, {.code = 6});
  EXPECT_EQ(job.agent(0).stops, 0);
  job.ended(1, {.code = 3});
  EXPECT_EQ(job.agent(0).stops, 1);
  for (const int instance : {0, 1, 2}) job.closed(instance);
  ASSERT_TRUE(job.done());
  ASSERT_TRUE(job.outcome().failure);
  EXPECT_EQ(job.outcome().failure->instance, 1);
  EXPECT_EQ(job.outcome().exit_code, 3);
}

TEST(JobEnd, AFailureWaitsForItsCauseNoLongerThanThatCanTake) {
  JobFixture job(1, 2);
  job.startAll();
  job.endedAsTold(0, {.code = 5}, 1);
  job.loop().advance(std::chrono::seconds(6));  // instance 1 has caught its exception, and goes on
  EXPECT_EQ(job.agent(0).stops, 1);
  job.ended(1, {.signal = SIGTERM});
  for (const int instance : {0, 1}) job.closed(instance);
  EXPECT_EQ(job.outcome().failure->instance, 0);
  EXPECT_EQ(job.outcome().exit_code, 5);
}

TEST(JobEnd, AnInstanceThatEndsWellIsNoCause) {
  JobFixture job(1, 2);
  job.startAll();
  job.endedAsTold(0, {.code = 5}, 1);
  job.ended(1, kSuccess);
  EXPECT_EQ(job.agent(0).stops, 1);
  for (const int instance : {0, 1}) job.closed(instance);
  EXPECT_EQ(job.outcome().exit_code, 5);
}

TEST(JobEnd, WhatAnInstanceSaysOfACauseMayBeAnything) {
  for (const int cause : {0, 2, -7, INT32_MAX}) {
    JobFixture job(1, 2);
    job.startAll();
    job.endedAsTold(0, {.code = 5}, cause);
    EXPECT_EQ(job.agent(0).stops, 1) << cause;
  }
}

}  // namespace
}  // namespace pop
