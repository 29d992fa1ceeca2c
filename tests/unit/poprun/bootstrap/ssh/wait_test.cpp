// SPDX-License-Identifier: Apache-2.0
// The time that poprun waits for a host.
#include "poprun/bootstrap/ssh/wait.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "tests/testing/process_tree.h"

namespace pop {
namespace {

using namespace std::chrono_literals;
using testing::statOf;
using testing::waitUntil;

// In a child, which says when it begins to wait. Exits with 0: `fd` had something to read in time.
pid_t waitInChild(int fd, int said, std::chrono::milliseconds limit) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  const Cancellation nobody_cancels;
  const Wait wait(nobody_cancels, limit);
  if (!sys::writeAll(said, "w").ok()) ::_exit(2);
  ::_exit(wait.forEvents(fd, POLLIN).ok() ? 0 : 1);
}

TEST(Wait, DoesNotCountTimeInWhichTheProcessIsStopped) {
  constexpr std::chrono::milliseconds kLimit = 4s;
  const sys::Pipe pipe = sys::makePipe().value();
  const sys::Pipe said = sys::makePipe().value();
  const pid_t child = waitInChild(pipe.read_end.get(), said.write_end.get(), kLimit);
  ASSERT_GT(child, 0);
  char word = 0;
  ASSERT_EQ(::read(said.read_end.get(), &word, 1), 1);
  ::kill(child, SIGSTOP);
  EXPECT_FALSE(waitUntil([] { return false; }, kLimit * 3 / 2)) << "longer than it waits";
  ::kill(child, SIGCONT);
  char state = 0;
  EXPECT_TRUE(waitUntil(
      [&] {
        state = statOf(child).value_or(testing::ProcessStat{}).state;
        return state == 'S' || state == 'Z';
      },
      20s));
  EXPECT_EQ(state, 'S') << "it waits again";
  ASSERT_TRUE(sys::writeAll(pipe.write_end.get(), "x").ok());
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace pop
