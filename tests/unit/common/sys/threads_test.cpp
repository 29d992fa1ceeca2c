// SPDX-License-Identifier: Apache-2.0
#include "common/sys/threads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <latch>
#include <thread>

namespace pop::sys {
namespace {

TEST(ThreadsOf, NamesEveryThreadOfThisProcess) {
  std::latch running(1);
  std::latch done(1);
  pid_t id = 0;
  std::thread other([&] {
    id = ::gettid();
    running.count_down();
    done.wait();
  });
  running.wait();
  EXPECT_THAT(threadsOf(::getpid()), ::testing::IsSupersetOf({::getpid(), id}));
  done.count_down();
  other.join();
}

TEST(ThreadsOf, IsEmptyForAProcessThatIsGone) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(0);
  ASSERT_EQ(::waitpid(pid, nullptr, 0), pid);
  EXPECT_TRUE(threadsOf(pid).empty());
}

}  // namespace
}  // namespace pop::sys
