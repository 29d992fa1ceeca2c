// SPDX-License-Identifier: Apache-2.0
#include "poprun/bootstrap/copy/copy_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace pop {
namespace {

using namespace std::chrono_literals;
using State = model::CopyState;
using ::testing::HasSubstr;
using ::testing::Not;

class CopyLinesTest : public ::testing::Test {
 protected:
  CopyLines lines(int hosts, int rows) {
    std::vector<std::string> names;
    for (int i = 0; i < hosts; ++i) names.push_back("h" + std::to_string(i));
    return {names, rows, 80, [this](const std::string& text) { written_ += text; }};
  }
  std::string taken() { return std::exchange(written_, {}); }

  std::string written_;
  CopyLines::Clock::time_point now_{1h};
};

TEST_F(CopyLinesTest, AreOnePerHostThatIsDoneWhereThereIsNoTerminal) {
  CopyLines copy = lines(2, 0);
  copy.change(0, State::kCopying, 10, now_);
  EXPECT_EQ(taken(), "");
  copy.change(0, State::kDone, 100, now_);
  copy.change(1, State::kFailed, 0, now_);
  EXPECT_EQ(taken(), "poprun: h0: copied (1 of 2 hosts)\npoprun: h1: failed (2 of 2 hosts)\n");
  copy.finish();
  EXPECT_EQ(taken(), "");
}

TEST_F(CopyLinesTest, AreDrawnAnewAtATerminal) {
  CopyLines copy = lines(2, 24);
  copy.change(0, State::kCopying, 10, now_);
  EXPECT_EQ(taken(), "\r\x1b[Kpoprun: h0: copying, 10 %\n\r\x1b[Kpoprun: h1: waits\n\x1b[J");
  copy.change(0, State::kCopying, 50, now_ + 200ms);
  EXPECT_EQ(taken(), "\x1b[2A\r\x1b[Kpoprun: h0: copying, 50 %\n\r\x1b[Kpoprun: h1: waits\n\x1b[J");
}

TEST_F(CopyLinesTest, AreNotDrawnTooOftenButAtTheEnd) {
  CopyLines copy = lines(1, 24);
  copy.change(0, State::kCopying, 1, now_);
  taken();
  copy.change(0, State::kCopying, 2, now_ + 50ms);
  copy.change(0, State::kDone, 100, now_ + 60ms);
  EXPECT_EQ(taken(), "");
  copy.finish();
  EXPECT_THAT(taken(), HasSubstr("h0: copied"));
}

TEST_F(CopyLinesTest, OfMoreHostsThanRowsAreThoseThatMatter) {
  CopyLines copy = lines(40, 10);
  for (int host = 0; host < 5; ++host) copy.change(host, State::kDone, 100, now_);
  copy.change(5, State::kFailed, 0, now_);
  taken();
  copy.change(39, State::kCopying, 7, now_ + 1s);
  const std::string drawn = taken();
  EXPECT_THAT(drawn, HasSubstr("h39: copying, 7 %"));
  EXPECT_THAT(drawn, HasSubstr("h5: failed"));
  EXPECT_THAT(drawn, HasSubstr("and 33 more hosts; 6 of 40 are done"));
  EXPECT_THAT(drawn, Not(HasSubstr("h0: copied")));
  EXPECT_EQ(std::count(drawn.begin(), drawn.end(), '\n'), 8);
}

}  // namespace
}  // namespace pop
