// SPDX-License-Identifier: Apache-2.0
// Everything pure is tested on this loop, so it must keep the promises of Loop itself.
#include "tests/testing/fake_loop.h"

#include <gtest/gtest.h>

#include <string>

namespace pop::testing {
namespace {

using std::chrono::milliseconds;

TEST(FakeLoop, RunsPostedTasksInOrderAndOnlyWhenAsked) {
  FakeLoop loop;
  std::string ran;
  loop.post([&] {
    ran += 'a';
    loop.post([&ran] { ran += 'c'; });
  });
  loop.post([&ran] { ran += 'b'; });
  EXPECT_EQ(ran, "");
  loop.runPosted();
  EXPECT_EQ(ran, "abc");
}

TEST(FakeLoop, FiresTimersWhenTheyAreDueAndNotSooner) {
  FakeLoop loop;
  std::string fired;
  const Clock::time_point start = loop.now();
  loop.postAfter(milliseconds(20), [&] { fired += 'b'; });
  loop.postAfter(milliseconds(10), [&] {
    fired += 'a';
    EXPECT_EQ(loop.now() - start, milliseconds(10));
    loop.postAfter(milliseconds(20), [&fired] { fired += 'c'; });
  });
  loop.advance(milliseconds(9));
  EXPECT_EQ(fired, "");
  loop.advance(milliseconds(1));
  EXPECT_EQ(fired, "a");
  loop.advance(milliseconds(20));
  EXPECT_EQ(fired, "abc");
  EXPECT_EQ(loop.now() - start, milliseconds(30));
}

TEST(FakeLoop, ACancelledTimerNeverFires) {
  FakeLoop loop;
  bool fired = false;
  const TimerId timer = loop.postAfter(milliseconds(5), [&fired] { fired = true; });
  loop.cancel(timer);
  loop.cancel(timer);
  loop.advance(milliseconds(100));
  EXPECT_FALSE(fired);
}

}  // namespace
}  // namespace pop::testing
