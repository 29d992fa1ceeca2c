// SPDX-License-Identifier: Apache-2.0
// The status line in virtual time, on a terminal that only writes down.
#include "poprun/ui/status_line.h"

#include <gtest/gtest.h>

#include "tests/testing/fake_loop.h"

namespace pop {
namespace {

class StatusLineTest : public ::testing::Test {
 protected:
  testing::FakeLoop loop;
  std::string drawn;  ///< the last that was drawn
  int draws = 0;
  bool busy = false;
  std::size_t columns = 80;
  StatusLine status{loop,
                    4,
                    {[this] { return columns; },
                     [this](std::string_view text) {
                       if (busy) return false;
                       drawn = text;
                       ++draws;
                       return true;
                     }}};
};

TEST_F(StatusLineTest, IsNotThereForAShortJob) {
  status.started(0);
  loop.advance(StatusLine::kFirstAfter - std::chrono::milliseconds(1));
  EXPECT_EQ(draws, 0);
  EXPECT_EQ(status.erase(), "");
}

TEST_F(StatusLineTest, CountsTheInstances) {
  for (int instance = 0; instance < 3; ++instance) status.started(instance);
  status.ended(1);
  loop.advance(StatusLine::kFirstAfter);
  EXPECT_EQ(drawn, "\r\x1b[Kpoprun: 1 starting, 2 running, 1 done");
  status.started(3);
  loop.advance(StatusLine::kPause);
  EXPECT_EQ(drawn, "\r\x1b[Kpoprun: 3 running, 1 done");
}

TEST_F(StatusLineTest, MakesWayAndComesBackInAPause) {
  loop.advance(StatusLine::kFirstAfter);
  EXPECT_EQ(status.erase(), "\r\x1b[K");
  EXPECT_EQ(status.erase(), "") << "it is gone";
  loop.advance(StatusLine::kPause);
  EXPECT_EQ(draws, 2);
}

TEST_F(StatusLineTest, WaitsWhileAnotherLineIsUnfinished) {
  busy = true;
  loop.advance(StatusLine::kFirstAfter);
  EXPECT_EQ(status.erase(), "");
  busy = false;
  loop.advance(StatusLine::kPause);
  EXPECT_EQ(draws, 1);
}

TEST_F(StatusLineTest, IsNotDrawnAgainWhenNothingChanges) {
  loop.advance(std::chrono::hours(1));
  EXPECT_EQ(draws, 1);
  EXPECT_EQ(loop.armedTimers(), 0U);
}

TEST_F(StatusLineTest, FitsTheTerminal) {
  columns = 10;
  loop.advance(StatusLine::kFirstAfter);
  EXPECT_EQ(drawn, "\r\x1b[Kpoprun: 4");
}

}  // namespace
}  // namespace pop
