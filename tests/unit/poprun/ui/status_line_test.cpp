// SPDX-License-Identifier: Apache-2.0
// The status line in virtual time, on a terminal that only writes down.
#include "poprun/ui/status_line.h"

#include <gtest/gtest.h>

#include "tests/testing/fake_loop.h"

namespace pop {
namespace {

class StatusLineTest : public ::testing::Test {
 protected:
  testing::FakeLoop loop_;
  std::string drawn_;  ///< the last that was drawn_
  int draws_ = 0;
  bool busy_ = false;
  std::size_t columns_ = 80;
  StatusLine status_{loop_,
                     4,
                     {[this] { return columns_; },
                      [this](std::string_view text) {
                        if (busy_) return false;
                        drawn_ = text;
                        ++draws_;
                        return true;
                      }}};
};

TEST_F(StatusLineTest, IsNotThereForAShortJob) {
  status_.started(0);
  loop_.advance(StatusLine::kFirstAfter - std::chrono::milliseconds(1));
  EXPECT_EQ(draws_, 0);
  EXPECT_EQ(status_.erase(), "");
}

TEST_F(StatusLineTest, CountsTheInstances) {
  for (int instance = 0; instance < 3; ++instance) status_.started(instance);
  status_.ended(1);
  loop_.advance(StatusLine::kFirstAfter);
  EXPECT_EQ(drawn_, "\r\x1b[Kpoprun: 1 starting, 2 running, 1 done");
  status_.started(3);
  loop_.advance(StatusLine::kPause);
  EXPECT_EQ(drawn_, "\r\x1b[Kpoprun: 3 running, 1 done");
}

TEST_F(StatusLineTest, CountsAnewInTheNextAttempt) {
  for (int instance = 0; instance < 4; ++instance) status_.started(instance);
  status_.ended(1);
  loop_.advance(StatusLine::kFirstAfter);
  status_.beginAttempt();
  loop_.advance(StatusLine::kPause);
  EXPECT_EQ(drawn_, "\r\x1b[Kpoprun: 4 starting");
}

TEST_F(StatusLineTest, MakesWayAndComesBackInAPause) {
  loop_.advance(StatusLine::kFirstAfter);
  EXPECT_EQ(status_.erase(), "\r\x1b[K");
  EXPECT_EQ(status_.erase(), "") << "it is gone";
  loop_.advance(StatusLine::kPause);
  EXPECT_EQ(draws_, 2);
}

TEST_F(StatusLineTest, WaitsWhileAnotherLineIsUnfinished) {
  busy_ = true;
  loop_.advance(StatusLine::kFirstAfter);
  EXPECT_EQ(status_.erase(), "");
  busy_ = false;
  loop_.advance(StatusLine::kPause);
  EXPECT_EQ(draws_, 1);
}

TEST_F(StatusLineTest, IsNotDrawnAgainWhenNothingChanges) {
  loop_.advance(std::chrono::hours(1));
  EXPECT_EQ(draws_, 1);
  EXPECT_EQ(loop_.armedTimers(), 0U);
}

TEST_F(StatusLineTest, FitsTheTerminal) {
  columns_ = 10;
  loop_.advance(StatusLine::kFirstAfter);
  EXPECT_EQ(drawn_, "\r\x1b[Kpoprun: 4");
}

}  // namespace
}  // namespace pop
