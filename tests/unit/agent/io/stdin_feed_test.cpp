// SPDX-License-Identifier: Apache-2.0
// Input from a launcher on another host, when no instance here reads it. tests/integration/stdin_test.cpp has
// the rest.
#include "agent/io/stdin_feed.h"

#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <chrono>
#include <string>

#include "tests/testing/run_until.h"

namespace pop::agent {
namespace {

class StdinFeedOfAnAgent : public ::testing::Test {
 protected:
  sys::Fd start() {
    feed.begin({.who = model::StdinPolicy::Who::kAll}, 1);
    return feed.open(0).value();
  }
  void send(const std::string& text) { ASSERT_TRUE(sys::writeAll(input.write_end.get(), text).ok()); }
  int waiting() const {
    int bytes = 0;
    ::ioctl(input.read_end.get(), FIONREAD, &bytes);
    return bytes;
  }
  std::string read(const sys::Fd& instance) {
    std::string text(100, '\0');
    EXPECT_TRUE(sys::setNonBlocking(instance.get()).ok());
    ssize_t got = -1;
    testing::runUntil(loop, [&] { return (got = ::read(instance.get(), text.data(), text.size())) >= 0; });
    text.resize(static_cast<std::size_t>(got));
    return text;
  }

  sys::Pipe input = sys::makePipe().value();
  os::EpollLoop loop;
  int unread = 0;
  StdinFeed feed{loop, input.read_end.get(), [this] { ++unread; }};
};

TEST_F(StdinFeedOfAnAgent, DropsWhatNobodyReadsUntilTheNextRun) {
  sys::Fd instance = start();
  instance.reset();
  send("for nobody");
  testing::runUntil(loop, [this] { return waiting() == 0; });
  EXPECT_EQ(unread, 1);
  send("for nobody");
  testing::runUntil(loop, [this] { return waiting() == 0; });
  EXPECT_EQ(unread, 1);
  instance = start();
  send("for the next");
  EXPECT_EQ(read(instance), "for the next");
}

TEST_F(StdinFeedOfAnAgent, DropsNothingWhileSomebodyReads) {
  feed.begin({.who = model::StdinPolicy::Who::kAll}, 2);
  feed.open(0).value().reset();
  const sys::Fd instance = feed.open(1).value();
  send("for one");
  EXPECT_EQ(read(instance), "for one");
  EXPECT_EQ(unread, 0);
}

TEST_F(StdinFeedOfAnAgent, KeepsForTheNextRunWhatComesWhenTheRunIsBeingStopped) {
  sys::Fd instance = start();
  feed.keep();
  instance.reset();
  send("for the next");
  bool long_after = false;
  loop.postAfter(std::chrono::milliseconds(200), [&long_after] { long_after = true; });
  testing::runUntil(loop, [&long_after] { return long_after; });
  EXPECT_EQ(unread, 0);
  instance = start();
  EXPECT_EQ(read(instance), "for the next");
}

TEST_F(StdinFeedOfAnAgent, TellsTheNextRunOfTheEndThatComesWhenNobodyReads) {
  sys::Fd instance = start();
  instance.reset();
  send("for nobody");
  testing::runUntil(loop, [this] { return unread == 1; });
  input.write_end.reset();
  testing::runIdle(loop);
  instance = start();
  EXPECT_EQ(read(instance), "");
}

}  // namespace
}  // namespace pop::agent
