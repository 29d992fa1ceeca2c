// SPDX-License-Identifier: Apache-2.0
#include "common/base/heartbeat.h"

#include <gtest/gtest.h>

#include "tests/testing/fake_loop.h"

namespace pop {
namespace {

using std::chrono::milliseconds;

struct Pulse {
  testing::FakeLoop loop;
  int beats = 0;
  int silent = 0;
  Heartbeat heartbeat{loop, {}, [this] { ++beats; }, [this] { ++silent; }};

  // Hears something every `step`, for `duration`.
  void talk(milliseconds duration, milliseconds step) {
    for (milliseconds at{0}; at < duration; at += step) {
      heartbeat.heard();
      loop.advance(step);
    }
  }
};

TEST(Heartbeat, BeatsEverySecond) {
  Pulse pulse;
  pulse.heartbeat.start();
  pulse.talk(milliseconds(10'000), milliseconds(500));
  EXPECT_EQ(pulse.beats, 10);
  EXPECT_EQ(pulse.silent, 0);
}

TEST(Heartbeat, NoticesSilenceFiveSecondsAfterTheLastSignWheneverThatWas) {
  for (const int last : {0, 1, 400, 999, 1000, 1001, 7350}) {
    Pulse pulse;
    pulse.heartbeat.start();
    for (int at = 0; at < last; ++at) {
      pulse.heartbeat.heard();
      pulse.loop.advance(milliseconds(1));
    }
    pulse.heartbeat.heard();
    pulse.loop.advance(milliseconds(4999));
    EXPECT_EQ(pulse.silent, 0) << last;
    pulse.loop.advance(milliseconds(1));
    EXPECT_EQ(pulse.silent, 1) << last;
    EXPECT_FALSE(pulse.heartbeat.running());
    pulse.loop.advance(milliseconds(60'000));
    EXPECT_EQ(pulse.silent, 1) << "once";
  }
}

TEST(Heartbeat, TimeInWhichTheProcessWasStoppedIsNoSilence) {
  Pulse pulse;
  pulse.heartbeat.start();
  pulse.talk(milliseconds(1500), milliseconds(500));
  pulse.loop.stopFor(milliseconds(3'600'000));
  pulse.loop.advance(milliseconds(3900));
  EXPECT_EQ(pulse.silent, 0);
  pulse.heartbeat.heard();
  pulse.loop.advance(milliseconds(4900));
  EXPECT_EQ(pulse.silent, 0);
  pulse.loop.advance(milliseconds(1100));
  EXPECT_EQ(pulse.silent, 1);
}

// The other side has stood still as well: its sign comes now.
TEST(Heartbeat, AMachineThatStoodStillGivesTheOtherSideOneHeartbeatMore) {
  Pulse pulse;
  pulse.heartbeat.start();
  pulse.talk(milliseconds(2500), milliseconds(500));
  pulse.loop.advance(milliseconds(600));
  pulse.loop.standStillFor(milliseconds(6000));
  EXPECT_EQ(pulse.silent, 0);
  pulse.heartbeat.heard();
  pulse.loop.advance(milliseconds(4999));
  EXPECT_EQ(pulse.silent, 0);
  pulse.loop.advance(milliseconds(1));
  EXPECT_EQ(pulse.silent, 1);
}

TEST(Heartbeat, AMachineThatStoodStillIsExcusedThoughTheSilenceWasOverBeforeItsBeatWasDue) {
  Pulse pulse;
  pulse.heartbeat.start();
  pulse.talk(milliseconds(2500), milliseconds(300));  // last heard at 2400: silent at 7400
  pulse.loop.advance(milliseconds(4500));
  pulse.loop.standStillFor(milliseconds(2000));
  EXPECT_EQ(pulse.silent, 0);
}

TEST(Heartbeat, AMachineThatStandsStillAgainAndAgainFindsOutAllTheSame) {
  Pulse pulse;
  pulse.heartbeat.start();
  pulse.talk(milliseconds(2500), milliseconds(500));
  pulse.loop.advance(milliseconds(600));
  pulse.loop.standStillFor(milliseconds(6000));
  pulse.loop.advance(milliseconds(100));
  pulse.loop.standStillFor(milliseconds(6000));
  EXPECT_EQ(pulse.silent, 1);
}

TEST(Heartbeat, SilenceThatIsExpectedMayLastUntilSignsAre) {
  Pulse pulse;
  pulse.heartbeat.start();
  pulse.talk(milliseconds(2500), milliseconds(500));
  pulse.heartbeat.expectSilence();
  pulse.loop.advance(std::chrono::hours(1));
  EXPECT_EQ(pulse.silent, 0);
  EXPECT_EQ(pulse.beats, 2 + 60) << "now and then";
  pulse.heartbeat.heard();  // messages on their way
  pulse.loop.advance(std::chrono::hours(1));
  EXPECT_EQ(pulse.silent, 0);
  pulse.heartbeat.expectSigns();
  pulse.loop.advance(milliseconds(4999));
  EXPECT_EQ(pulse.silent, 0);
  pulse.loop.advance(milliseconds(1));
  EXPECT_EQ(pulse.silent, 1);
}

TEST(Heartbeat, CanBeStoppedAndStartsAnew) {
  Pulse pulse;
  pulse.heartbeat.start();
  pulse.heartbeat.stop();
  EXPECT_EQ(pulse.loop.armedTimers(), 0U);
  pulse.loop.advance(milliseconds(60'000));
  EXPECT_EQ(pulse.silent + pulse.beats, 0);
  pulse.heartbeat.start();
  pulse.loop.advance(milliseconds(4999));
  EXPECT_EQ(pulse.silent, 0);
  pulse.loop.advance(milliseconds(1));
  EXPECT_EQ(pulse.silent, 1);
}

TEST(Heartbeat, LeavesNoTimerBehind) {
  testing::FakeLoop loop;
  {
    Heartbeat heartbeat(
        loop, {}, [] {}, [] {});
    heartbeat.start();
  }
  EXPECT_EQ(loop.armedTimers(), 0U);
}

}  // namespace
}  // namespace pop
