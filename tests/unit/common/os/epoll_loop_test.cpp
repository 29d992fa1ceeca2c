// SPDX-License-Identifier: Apache-2.0
#include "common/os/epoll_loop.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include "common/sys/fd.h"

namespace pop::os {
namespace {

using std::chrono::milliseconds;

char readByte(const sys::Fd& fd) {
  char byte = 0;
  EXPECT_EQ(::read(fd.get(), &byte, 1), 1);
  return byte;
}

TEST(EpollLoop, RunsPostedTasksInOrderUntilStopped) {
  EpollLoop loop;
  std::string ran;
  loop.post([&ran] { ran += 'a'; });
  loop.post([&] {
    ran += 'b';
    loop.post([&] {
      ran += 'd';
      loop.stop();
    });
  });
  loop.post([&ran] { ran += 'c'; });
  loop.run();
  EXPECT_EQ(ran, "abcd");
}

TEST(EpollLoop, RunsAgainAfterAStop) {
  EpollLoop loop;
  int runs = 0;
  for (int round = 0; round < 3; ++round) {
    loop.post([&] {
      ++runs;
      loop.stop();
    });
    loop.run();
  }
  EXPECT_EQ(runs, 3) << "also when nothing else was left to do in between";
}

TEST(EpollLoop, TakesPostsFromOtherThreadsAndWaitsForThem) {
  EpollLoop loop;
  std::vector<int> ran;
  std::thread other([&] {
    for (int task = 0; task < 1000; ++task) loop.post([&ran, task] { ran.push_back(task); });
    loop.post([&loop] { loop.stop(); });
  });
  loop.run();
  other.join();
  ASSERT_EQ(ran.size(), 1000U);
  for (int task = 0; task < 1000; ++task) EXPECT_EQ(ran[static_cast<std::size_t>(task)], task);
}

TEST(EpollLoop, FiresTimersInTheOrderInWhichTheyAreDue) {
  EpollLoop loop;
  std::string fired;
  const Clock::time_point start = loop.now();
  loop.postAfter(milliseconds(120), [&] {
    fired += 'c';
    EXPECT_GE(loop.now() - start, milliseconds(120));
    loop.stop();
  });
  loop.postAfter(milliseconds(20), [&fired] { fired += 'a'; });
  loop.postAfter(milliseconds(60), [&fired] { fired += 'b'; });
  const TimerId cancelled = loop.postAfter(milliseconds(40), [&fired] { fired += 'x'; });
  loop.cancel(cancelled);
  loop.cancel(cancelled);
  loop.run();
  EXPECT_EQ(fired, "abc");
}

TEST(EpollLoop, ATimerCancelledByTheOneBeforeItDoesNotFire) {
  EpollLoop loop;
  bool fired = false;
  TimerId second{};
  loop.postAfter(milliseconds(0), [&] {
    // Both are due: the second may be on its way already.
    loop.cancel(second);
    loop.postAfter(milliseconds(2), [&loop] { loop.stop(); });
  });
  second = loop.postAfter(milliseconds(0), [&fired] { fired = true; });
  loop.run();
  EXPECT_FALSE(fired);
}

TEST(EpollLoop, AnExtendedTimerFiresOnceAndThatMuchLater) {
  EpollLoop loop;
  std::vector<int> fired;
  const Clock::time_point begin = loop.now();
  Clock::duration first_after{};
  loop.postAfter(milliseconds(1), [&] {
    fired.push_back(1);
    first_after = loop.now() - begin;
  });
  loop.postAfter(milliseconds(60), [&] {
    fired.push_back(2);
    loop.stop();
  });
  loop.extendTimers(milliseconds(20));
  loop.run();
  EXPECT_EQ(fired, (std::vector<int>{1, 2}));
  EXPECT_GE(first_after, milliseconds(21));
}

TEST(EpollLoop, ATimerThatIsDueWhenItIsExtendedWaitsAllTheSame) {
  EpollLoop loop;
  bool extended = false;
  bool fired_after_extension = false;
  loop.postAfter(milliseconds(0), [&] {
    loop.extendTimers(milliseconds(20));
    extended = true;
  });
  loop.postAfter(milliseconds(0), [&] {  // due in the same turn
    fired_after_extension = extended;
    loop.stop();
  });
  loop.run();
  EXPECT_TRUE(fired_after_extension);
}

TEST(EpollLoop, CallsAgainWhileThereIsSomethingToRead) {
  EpollLoop loop;
  const sys::Pipe pipe = sys::makePipe().value();
  ASSERT_TRUE(sys::writeAll(pipe.write_end.get(), "abc").ok());
  std::string got;
  loop.watchReadable(pipe.read_end.get(), [&] {
    got += readByte(pipe.read_end);
    if (got.size() == 3) loop.stop();
  });
  loop.run();
  EXPECT_EQ(got, "abc");
  loop.unwatch(pipe.read_end.get());
}

TEST(EpollLoop, ReportsTheEndOfAPipe) {
  EpollLoop loop;
  sys::Pipe pipe = sys::makePipe().value();
  ssize_t got = -1;
  loop.watchReadable(pipe.read_end.get(), [&] {
    char byte = 0;
    got = ::read(pipe.read_end.get(), &byte, 1);
    loop.unwatch(pipe.read_end.get());
    loop.stop();
  });
  pipe.write_end.reset();
  loop.run();
  EXPECT_EQ(got, 0);
}

TEST(EpollLoop, APausedWatchIsSilentAndCanBeTakenUpAgain) {
  EpollLoop loop;
  const sys::Pipe pipe = sys::makePipe().value();
  int calls = 0;
  const auto watch = [&] {
    loop.watchReadable(pipe.read_end.get(), [&] {
      ++calls;
      loop.unwatchReadable(pipe.read_end.get());
    });
  };
  ASSERT_TRUE(sys::writeAll(pipe.write_end.get(), "ab").ok());
  for (int round = 1; round <= 3; ++round) {
    watch();
    loop.postAfter(milliseconds(2), [&loop] { loop.stop(); });
    loop.run();
    EXPECT_EQ(calls, round) << "once for each time it was taken up";
  }
  loop.unwatch(pipe.read_end.get());
}

TEST(EpollLoop, ADescriptorCanBeUnwatchedAndClosedFromItsOwnHandler) {
  EpollLoop loop;
  sys::Pipe pipe = sys::makePipe().value();
  ASSERT_TRUE(sys::writeAll(pipe.write_end.get(), "a").ok());
  int calls = 0;
  loop.watchReadable(pipe.read_end.get(), [&] {
    ++calls;
    loop.unwatch(pipe.read_end.get());
    pipe.read_end.reset();
    loop.postAfter(milliseconds(1), [&loop] { loop.stop(); });
  });
  loop.run();
  EXPECT_EQ(calls, 1);
}

TEST(EpollLoop, ReportsWhenAFullPipeTakesMore) {
  EpollLoop loop;
  const sys::Pipe pipe = sys::makePipe().value();
  ASSERT_TRUE(sys::setNonBlocking(pipe.write_end.get()).ok());
  const std::string block(4096, 'x');
  while (::write(pipe.write_end.get(), block.data(), block.size()) > 0) {
  }
  bool read_first = false;
  bool writable_after = false;
  loop.watchWritable(pipe.write_end.get(), [&] {
    writable_after = read_first;
    loop.unwatch(pipe.write_end.get());
    loop.stop();
  });
  loop.postAfter(milliseconds(2), [&] {
    read_first = true;
    std::array<char, 65536> chunk{};
    EXPECT_GT(::read(pipe.read_end.get(), chunk.data(), chunk.size()), 0);
  });
  loop.run();
  EXPECT_TRUE(writable_after);
}

TEST(EpollLoop, AFileIsAlwaysReady) {
  EpollLoop loop;
  const sys::Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  int calls = 0;
  loop.watchReadable(null.get(), [&] {
    if (++calls < 3) return;
    loop.unwatch(null.get());
    loop.post([&loop] { loop.stop(); });
  });
  loop.run();
  EXPECT_EQ(calls, 3);
}

// The number of times that this thread has slept.
long sleeps() {
  rusage usage{};
  EXPECT_EQ(::getrusage(RUSAGE_THREAD, &usage), 0);
  return usage.ru_nvcsw;
}

TEST(EpollLoop, SleepsAlthoughAFileIsPaused) {
  EpollLoop loop;
  const sys::Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  int reads = 0;
  int writes = 0;
  loop.watchReadable(null.get(), [&] {
    ++reads;
    loop.unwatchReadable(null.get());
  });
  loop.watchWritable(null.get(), [&] {
    ++writes;
    loop.unwatchWritable(null.get());
  });
  loop.postAfter(milliseconds(50), [&loop] { loop.stop(); });
  const long before = sleeps();
  loop.run();
  EXPECT_GT(sleeps(), before) << "it has run all the time";
  EXPECT_EQ(reads, 1);
  EXPECT_EQ(writes, 1);
  loop.watchReadable(null.get(), [&loop] { loop.stop(); });
  loop.run();
  loop.unwatch(null.get());
}

TEST(EpollLoop, AHandlerMayUnwatchAnotherThatIsReadyToo) {
  EpollLoop loop;
  const sys::Pipe first = sys::makePipe().value();
  const sys::Pipe second = sys::makePipe().value();
  int calls = 0;
  for (const auto& [own, other] : {std::pair(&first, &second), std::pair(&second, &first)}) {
    ASSERT_EQ(::write(own->write_end.get(), "x", 1), 1);
    loop.watchReadable(own->read_end.get(), [&loop, &calls, other = other] {
      ++calls;
      loop.unwatch(other->read_end.get());
      loop.post([&loop] { loop.stop(); });
    });
  }
  loop.run();
  EXPECT_EQ(calls, 1);
}

TEST(EpollLoop, ATaskPostedBeforeAnEndIsSeenBeforeIt) {
  for (int round = 0; round < 200; ++round) {
    EpollLoop loop;
    sys::Pipe pipe = sys::makePipe().value();
    std::string order;
    loop.watchReadable(pipe.read_end.get(), [&] {
      order += "end";
      loop.stop();
    });
    std::thread other([&] {
      loop.post([&] { order += "task "; });
      pipe.write_end.reset();
    });
    loop.run();
    other.join();
    ASSERT_EQ(order, "task end");
  }
}

TEST(EpollLoop, WhatWasPostedBehindAStopWaitsForTheNextRun) {
  EpollLoop loop;
  std::vector<int> ran;
  loop.post([&] { ran.push_back(1), loop.stop(); });
  loop.post([&] { ran.push_back(2), loop.stop(); });
  loop.run();
  EXPECT_EQ(ran, (std::vector<int>{1}));
  loop.run();
  EXPECT_EQ(ran, (std::vector<int>{1, 2}));
}

TEST(EpollLoop, WhatIsLastComesAfterAllThatIsPostedMeanwhile) {
  EpollLoop loop;
  std::string order;
  loop.post([&] {
    loop.postLast([&] {
      order += 'z';
      loop.stop();
    });
    order += 'a';
    loop.post([&] {
      order += 'b';
      loop.post([&order] { order += 'c'; });
    });
  });
  loop.run();
  EXPECT_EQ(order, "abcz");
}

TEST(EpollLoop, WhatIsLastHasItsTurnThoughSomethingIsPostedForEver) {
  EpollLoop loop;
  std::function<void()> again = [&] { loop.post(again); };
  again();
  loop.postLast([&loop] { loop.stop(); });
  loop.run();
}

TEST(EpollLoop, HandsSignalsToTheLoop) {
  EpollLoop loop;
  std::vector<int> received;
  loop.watchSignals({SIGUSR1, SIGUSR2}, [&](const Signal& signal) {
    received.push_back(signal.number);
    if (received.size() == 2) return loop.stop();
    ::raise(SIGUSR2);
  });
  loop.post([] { ::raise(SIGUSR1); });
  loop.run();
  EXPECT_EQ(received, (std::vector<int>{SIGUSR1, SIGUSR2}));
}

TEST(EpollLoop, SaysWhenASignalArrivedHoweverLateItLooks) {
  EpollLoop loop;
  std::vector<Signal> received;
  loop.watchSignals({SIGUSR1}, [&](const Signal& signal) {
    received.push_back(signal);
    if (received.size() == 2) loop.stop();
  });
  const Clock::time_point before = Clock::now();
  ::raise(SIGUSR1);
  const Clock::time_point between = Clock::now();
  ::raise(SIGUSR1);
  const Clock::time_point after = Clock::now();
  loop.run();
  ASSERT_EQ(received.size(), 2U);
  EXPECT_LE(before, received[0].at);
  EXPECT_LE(received[0].at, between);
  EXPECT_LE(between, received[1].at);
  EXPECT_LE(received[1].at, after);
}

}  // namespace
}  // namespace pop::os
