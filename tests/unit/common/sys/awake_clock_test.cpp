// SPDX-License-Identifier: Apache-2.0
// The part of a thread's time that counts, by its readings at each look.
#include "common/sys/awake_clock.h"

#include <gtest/gtest.h>

namespace pop::sys {
namespace {

using std::chrono::milliseconds;

class AwakeTimeTest : public ::testing::Test {
 protected:
  AwakeTimeTest() { before_ = look(); }

  // The time on the clock since the thread's first look.
  milliseconds passed() { return std::chrono::duration_cast<milliseconds>(look() - before_); }
  void sleeps(milliseconds time) { now_ += time; }
  void computes(milliseconds time) {
    now_ += time;
    computed_ += time;
  }
  // Sleeps and looks so many times, as a wait does.
  void waits(int looks, milliseconds between) {
    for (int turn = 0; turn < looks; ++turn) {
      sleeps(between);
      look();
    }
  }
  int readings() const { return readings_; }

 private:
  AwakeTime::Duration look() {
    return time_.at(now_, [this] {
      ++readings_;
      return computed_;
    });
  }

  AwakeTime time_;
  AwakeTime::Duration now_ = std::chrono::hours(5);
  AwakeTime::Duration computed_{0};
  AwakeTime::Duration before_{0};
  int readings_ = 0;
};

TEST_F(AwakeTimeTest, RunsWhileSomebodyWaits) {
  waits(500, milliseconds(20));
  EXPECT_EQ(passed(), milliseconds(10'000));
}

TEST_F(AwakeTimeTest, DoesNotRunWhileTheProcessIsStopped) {
  waits(5, milliseconds(20));
  sleeps(std::chrono::hours(1));
  waits(5, milliseconds(20));
  EXPECT_EQ(passed(), milliseconds(9 * 20));
}

TEST_F(AwakeTimeTest, RunsWhileTheThreadComputesHoweverLong) {
  computes(milliseconds(60'000));
  EXPECT_EQ(passed(), milliseconds(60'000));
  computes(milliseconds(3'000));
  waits(1, milliseconds(20));
  EXPECT_EQ(passed(), milliseconds(63'020));
}

TEST_F(AwakeTimeTest, RunsOnlyForWhatWasComputedBeforeTheStop) {
  computes(milliseconds(3'000));
  sleeps(std::chrono::hours(1));
  EXPECT_EQ(passed(), milliseconds(3'000));
}

TEST_F(AwakeTimeTest, RunsThroughShortStopsAndLooksThatFollowEachOtherFast) {
  sleeps(milliseconds(900));
  EXPECT_EQ(passed(), milliseconds(900));
  waits(1000, milliseconds(1));
  EXPECT_EQ(passed(), milliseconds(1'900));
  EXPECT_LT(readings(), 150);
}

TEST(AwakeClock, Runs) {
  const auto start = std::chrono::steady_clock::now();
  const AwakeClock::time_point begin = AwakeClock::now();
  AwakeClock::time_point last = begin;
  for (AwakeClock::time_point now = begin; now - begin < milliseconds(30); now = AwakeClock::now()) {
    EXPECT_GE(now, last);
    last = now;
  }
  EXPECT_GE(std::chrono::steady_clock::now() - start, milliseconds(30));
}

}  // namespace
}  // namespace pop::sys
