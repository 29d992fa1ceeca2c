// SPDX-License-Identifier: Apache-2.0
#include "agent/core/kill_ladder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/testing/fake_loop.h"

namespace pop::agent {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class KillLadderTest : public ::testing::Test {
 protected:
  testing::FakeLoop loop;
  std::vector<int> sent;
  KillLadder ladder{loop, milliseconds(5000), [this](int signal) { sent.push_back(signal); }};
};

TEST_F(KillLadderTest, SendsNothingUnasked) {
  loop.advance(std::chrono::hours(24));
  EXPECT_THAT(sent, IsEmpty());
}

TEST_F(KillLadderTest, TerminatesAndWakesAtOnceAndKillsAfterTheGraceNotSooner) {
  ladder.terminate();
  EXPECT_THAT(sent, ElementsAre(SIGTERM, SIGCONT));
  loop.advance(milliseconds(4999));
  EXPECT_THAT(sent, ElementsAre(SIGTERM, SIGCONT));
  loop.advance(milliseconds(1));
  EXPECT_THAT(sent, ElementsAre(SIGTERM, SIGCONT, SIGKILL));
  loop.advance(std::chrono::hours(24));
  EXPECT_EQ(sent.size(), 3U);
}

TEST_F(KillLadderTest, AskingAgainNeitherRepeatsNorProlongs) {
  ladder.terminate();
  loop.advance(milliseconds(3000));
  ladder.terminate();
  EXPECT_THAT(sent, ElementsAre(SIGTERM, SIGCONT));
  loop.advance(milliseconds(2000));
  EXPECT_THAT(sent, ElementsAre(SIGTERM, SIGCONT, SIGKILL));
}

TEST_F(KillLadderTest, KillSkipsTheGrace) {
  ladder.terminate();
  ladder.kill();
  EXPECT_THAT(sent, ElementsAre(SIGTERM, SIGCONT, SIGKILL));
  loop.advance(milliseconds(5000));
  ladder.kill();
  EXPECT_EQ(sent.size(), 3U) << "once is enough";
}

TEST_F(KillLadderTest, GivesWhatIsLeftOfTheGraceAfterAPause) {
  ladder.terminate();
  loop.advance(milliseconds(3000));
  ladder.pause();
  ladder.pause();
  loop.advance(std::chrono::hours(24));
  EXPECT_THAT(sent, ElementsAre(SIGTERM, SIGCONT));
  ladder.resume();
  ladder.resume();
  loop.advance(milliseconds(1999));
  EXPECT_THAT(sent, ElementsAre(SIGTERM, SIGCONT));
  loop.advance(milliseconds(1));
  EXPECT_THAT(sent, ElementsAre(SIGTERM, SIGCONT, SIGKILL));
}

TEST_F(KillLadderTest, KillsInAPauseAsWell) {
  ladder.terminate();
  ladder.pause();
  ladder.kill();
  EXPECT_THAT(sent, ElementsAre(SIGTERM, SIGCONT, SIGKILL));
  ladder.resume();
  EXPECT_EQ(loop.armedTimers(), 0U);
}

TEST_F(KillLadderTest, HasNothingToPauseBeforeItBegins) {
  ladder.pause();
  ladder.resume();
  EXPECT_EQ(loop.armedTimers(), 0U);
  EXPECT_THAT(sent, IsEmpty());
}

TEST_F(KillLadderTest, NothingFollowsAKill) {
  ladder.kill();
  ladder.terminate();
  loop.advance(milliseconds(5000));
  EXPECT_THAT(sent, ElementsAre(SIGKILL));
}

TEST(KillLadder, LeavesNoTimerBehind) {
  testing::FakeLoop loop;
  {
    KillLadder ladder(loop, milliseconds(1), [](int) {});
    ladder.terminate();
    ASSERT_EQ(loop.armedTimers(), 1U);
  }
  EXPECT_EQ(loop.armedTimers(), 0U);
}

}  // namespace
}  // namespace pop::agent
